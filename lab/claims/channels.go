package claims

import "slices"

// The settings of the results: records as they decode today, and records of 408 ns as the author's were.
const (
	recordsToday  = "decode:0s records:500000"
	recordsTheirs = "decode:408ns consume:0s"
)

// Channels is the article on channels.
var Channels = Article{
	Title: "Goroutines and Channels Aren't Free (《goroutine 和 channel 不可滥用》)",
	Author: "Elliott Jin, translated by ArisAries, 2018, " +
		"[the article](https://medium.com/@robot_dreams/goroutines-and-channels-arent-free-a8684f3b6560)",
	In: "channels", Filter: recordsTheirs, File: "channels.txt",
	Names: channelNames(),
	Claims: []Claim{
		{Says: "Passing a record over a channel is not negligible beside reading it: it takes longer than reading it and decoding it by hand.",
			Bar: More, Pairs: Than("Scan/way=direct/decoded=by-hand", "Hop/passing=channel", "Hop/passing=channel-done"), Note: "Here the file is in memory."},
		{Says: "Over a channel, the scan of the binary file takes longer than that of the CSV file.",
			Bar: More, Pairs: Than("Scan/way=CSV", "Scan/way=channel-done"), Filter: recordsToday,
			Note: "The channel with done is the article's first version: the producer sends in a select beside a done channel."},
		{Says: "Over a channel, the scan of the binary file takes nearly twice as long as that of the CSV file (27.0 s and 15.7 s).",
			Bar: AtLeast(1.72), Pairs: Than("Scan/way=CSV", "Scan/way=channel-done"), Filter: recordsToday, Note: "The article says twice."},
		{Says: "Without a channel, the scan of the binary file takes less time than that of the CSV file.",
			Bar: More, Pairs: Than("Scan/way=direct", "Scan/way=CSV"), Filter: recordsToday},
		{Says: "Without a channel, the scan of the binary file is more than twice as fast as that of the CSV file.",
			Bar: AtLeast(1.92), Pairs: Than("Scan/way=direct", "Scan/way=CSV"), Filter: recordsToday,
			Note: "The bar is 1.92, because the article says more than twice and prints 15.7 s and 8.16 s.",
			Cause: &Cause{"This row compares two decoders. `binary.Read` uses reflection. Decoded by hand, the scan is more than twice as fast as that of CSV.",
				Claim{Bar: AtLeast(2), Pairs: Than("Scan/way=direct/decoded=by-hand", "Scan/way=CSV"), Filter: recordsToday}}},
		{Says: "The scan takes less time without a channel than over one.",
			Bar: More, Pairs: Than("Scan/way=direct", "Scan/way=channel-done", "Scan/way=channel")},
		{Says: "The scan is more than three times as fast without a channel as over one.",
			Bar: AtLeast(3), Pairs: Than("Scan/way=direct", "Scan/way=channel-done"),
			Note: "Records are made to take about 408 ns, as the author's.",
			Cause: &Cause{"The author's passing took 2.3 times as long as his decoding. Here it takes less.",
				Claim{Bar: AtMost(2), Pairs: Than("Scan/way=direct", "Hop/passing=channel-done")}}},
		{Says: "The scan is more than three times as fast without a channel as over one, with records as they decode today.",
			Bar: AtLeast(3), Pairs: Than("Scan/way=direct", "Scan/way=channel-done"), Filter: recordsToday},
		{Says: "A select with a context, at the producer or at the consumer, makes the channel slower (59.4 s and 58.0 s; 19.9 s without a select).",
			Bar: More, Pairs: Than("Scan/way=channel", "Scan/way=context/at=producer", "Scan/way=context/at=consumer"),
			Note: "`stream.Generate` watches its context without a select a record."},
		{Says: "A select with one context for the whole scan takes more than twice as long as one with a done channel (59.4 s and 58.0 s; 27.0 s).",
			Bar: AtLeast(2), Pairs: Than("Scan/way=channel-done", channels("Scan/way=", "context", "timeout")...),
			Note: "The article does not say how its contexts are made, nor whether they stand beside the done channel; here they stand in its place.",
			Cause: &Cause{"The article writes of timeouts. With a context for each record, passing a record takes more than twice as long.",
				channelTimeouts}},
		{Says: "A select with a context for each record, which has a timeout, takes more than twice as long as one with a done channel.",
			Bar: AtLeast(2.14), Pairs: Than("Scan/way=channel-done", channels("Scan/way=", "context-a-record")...),
			Cause: &Cause{"Passing a record does. It is a smaller part of a scan here than it was of the author's.", channelTimeouts}},
		{Says: "A timeout for each record makes the channel slower: a context, `time.After`, or a timer that is reset.",
			Bar: More, Pairs: Than("Scan/way=channel-done", channels("Scan/way=", "context-a-record", "time.After", "timer")...),
			Note: "Give the whole scan a timeout: `context.WithTimeout` for the call that runs the stream."},
		{Says: "A buffer makes the channel faster: of 1 record, and of 1,000, with a select and without.",
			Bar: More, Pairs: slices.Concat(Than("Scan/way=channel-done/buffer=1", "Scan/way=channel-done"), channelBuffers("Scan/way="))},
		{Says: "A buffer of 1,000 makes the channel 1.39 times as fast or more (17.4 s instead of 27.0 s with a select, 14.3 s instead of 19.9 s without).",
			Bar: AtLeast(1.39), Pairs: channelBuffers("Scan/way="),
			Cause: channelHop(AtLeast(1.39), false, channelBuffers("Hop/passing="))},
		{Says: "Without the select with done the channel is faster (19.9 s instead of 27.0 s, and 14.3 s instead of 17.4 s).",
			Bar: More, Pairs: channelSelect},
		{Says: "The select with done makes the channel take 1.21 times as long or more (27.0 s instead of 19.9 s, and 17.4 s instead of 14.3 s).",
			Bar: AtLeast(1.21), Pairs: channelSelect,
			Cause: channelHop(AtLeast(1.21), true, Than("Hop/passing=channel/buffer=1000", "Hop/passing=channel-done/buffer=1000"))},
		{Says: "Batches of 1,000 records are faster than batches of 1.",
			Bar: More, Pairs: Than("Scan/way=batches/records=1000", "Scan/way=batches/records=1")},
		{Says: "Batches of 1,000 records make the scan 3.32 times as fast as batches of 1 (8.68 s instead of 28.83 s).",
			Bar: AtLeast(3.32), Pairs: Than("Scan/way=batches/records=1000", "Scan/way=batches/records=1"),
			Cause: channelHop(AtLeast(3.32), false, Than("Hop/passing=batches/records=1000", "Hop/passing=batches/records=1"))},
		{Says: "Batches of 1,000 records take about as long as no channel (8.68 s and 8.16 s).",
			Bar: AtMost(1.07), Pairs: Than("Scan/way=direct", "Scan/way=batches/records=1000"),
			Note: "`stream.Buffer` takes single records, and wakes the receiver for many."},
		{Says: "Batches of 100,000 records are slower than batches of 1,000.",
			Bar: More, Pairs: Than("Scan/way=batches/records=1000", "Scan/way=batches/records=100000"),
			Note: "Here 200,000 records are two such batches. The article has 200.",
			Cause: &Cause{"On one CPU, the memory of large batches costs some nanoseconds a record, which show only without decoding.",
				Claim{Bar: More, Pairs: OnOne("Hop/passing=batches/records=1000", "Hop/passing=batches/records=100000")}}},
		{Says: "The scanner is fastest if the consumer calls a method for the next record: no channel and no batches are faster.",
			Bar: NoGain, Pairs: Than("Scan/way=direct", "Scan/way=channel*", "Scan/way=batches/records=*"),
			Note: "It is less code too: the article's scanner has 18 lines with a producer and a channel, and 7 without."},
		{Says: "Most of the CPU time of the scan of the CSV file is spent in system calls that read.",
			Bar: AtLeast(50), Pairs: In("reading-%", Pair{A: "Profile/way=CSV", AAll: true}), Filter: "decode:0s",
			Cause: &Cause{"Here a system call copies 64 KB, and the article does not give its size. With 16 bytes a call, the calls are most of the time.",
				Claim{Bar: AtLeast(50), Pairs: In("reading-%", Pair{A: "Profile/way=CSV/bytes=16", AAll: true}), Filter: "decode:0s"}}},
		{Says: "Over a channel, little of the CPU time is spent in system calls that read.",
			Bar: Bar{"at most 10 %", -1, 10}, Pairs: In("reading-%", Pair{A: "Profile/way=channel-done", AAll: true}), Filter: "decode:0s"},
		{Says: "Over a channel goroutines wait for each other: they are switched more often than without one.",
			Bar: More, Pairs: In("scheduled/op", Than("Scan/way=direct", "Scan/way=channel-done")...)},
		{Says: "The Go runtime takes a larger part of the CPU time over a channel than without one, and than with batches.",
			Bar: More, Pairs: In("runtime-%", slices.Concat(OnAll("Profile/way=direct", "Profile/way=channel-done"),
				OnAll("Profile/way=batches/records=1000", "Profile/way=channel-done"))...), Filter: "decode:0s"},
		{Says: "Over a channel most of the CPU time is the Go runtime's.", Bar: AtLeast(50), Filter: "decode:0s",
			Pairs: In("runtime-%", Pair{A: "Profile/way=channel-done", AAll: true}), Note: "That includes allocation, of which a direct scan has some too."},
		{Ours: true, Says: "A scan with `stream.Generate`, which can be cancelled, takes as long as the direct one.",
			Bar: AtMost(1.05), Pairs: Than("Scan/way=direct", "Scan/way=stream.Generate")},
		{Ours: true, Says: "Where consuming takes as long as decoding, a `stream.Buffer` in between is faster than the direct scan.",
			Bar: More, Pairs: OnAll("Scan/way=stream.Generate/with=Buffer", "Scan/way=direct"),
			Filter: "consume:408ns", CPUs: 2},
	},
	Tables: []Table{
		channelTable("Records of 408 ns, as the author's; CSV and direct are set to his times; his two figures for a context stand beside two ways that it may have been", recordsTheirs, "Scan/way="),
		channelTable("Records as they decode today", recordsToday, "Scan/way="),
		channelTable("The article's 20,000,263 records, once, as they decode today", "records:20000263", "Scan/way="),
		channelTable("Passing a record, without decoding", recordsTheirs, "Hop/passing="),
		channelTable("Parts of the CPU time, from profiles", "decode:0s", "Profile/way="),
	},
	Curves: []Curve{{Title: "A record in batches", X: "records in a batch", Lines: []string{"Scan/way=batches/records=*"}, Unit: "sec/record"}},
	Write: "`stream.Generate` around the loop that reads, and `stream.Reduce`, `stream.Each` or a loop over `All` to consume: no goroutine, no channel, " +
		"and it ends with its context. Where consuming takes as long as reading, put a `stream.Buffer` between them.",
}

// channelHop is that passing a record has an effect which decoding hides.
func channelHop(bar Bar, mean bool, pairs []Pair) *Cause {
	return &Cause{"Passing a record alone shows this effect. In the author's scan it was a larger part: 942 ns, beside 408 ns of decoding.", Claim{Bar: bar, Mean: mean, Pairs: pairs}}
}

// channelTimeouts is that a context for each record makes passing one take twice as long.
var channelTimeouts = Claim{Bar: AtLeast(2), Pairs: Than("Hop/passing=channel-done", channels("Hop/passing=", "context-a-record")...)}

// channelNames are what sentences call a channel and its guards.
func channelNames() map[string]string {
	names := map[string]string{"Scan/way=channel*": "the fastest channel", "Scan/way=batches/records=*": "the best batches"}
	for prefix, passing := range map[string]string{"Scan/way=": "", "Hop/passing=": "passing over ", "Profile/way=": ""} {
		for suffix, buffer := range map[string]string{"": "", "/buffer=1": ", buffer 1", "/buffer=1000": ", buffer 1,000"} {
			names[prefix+"channel"+suffix] = passing + "a channel" + buffer
			names[prefix+"channel-done"+suffix] = passing + "the channel with done" + buffer
		}
	}
	return names
}

// channelSelect compares the channel with a select and without, unbuffered and with a buffer.
var channelSelect = slices.Concat(Than("Scan/way=channel", "Scan/way=channel-done"),
	Than("Scan/way=channel/buffer=1000", "Scan/way=channel-done/buffer=1000"))

func channelBuffers(prefix string) []Pair {
	done, none := prefix+"channel-done", prefix+"channel"
	return slices.Concat(Than(done+"/buffer=1000", done), Than(none+"/buffer=1000", none))
}

// channels returns the benchmarks of guards on either side.
func channels(prefix string, guards ...string) (names []string) {
	for _, g := range guards {
		names = append(names, prefix+g+"/at=producer", prefix+g+"/at=consumer")
	}
	return names
}

// channelTable is one of all benchmarks with a prefix; the main one is in the order of the article.
func channelTable(title, filter, prefix string) Table {
	t := Table{Title: title, Filter: filter, Prefix: prefix, Columns: []Column{
		{Title: "here, 1 CPU", Unit: "sec/record"}, {Title: "here, all CPUs", All: true, Unit: "sec/record"},
		{Title: "peak memory", All: true, Unit: "peak-B/op"}, {Title: "the runtime", All: true, Unit: "runtime-%"},
		{Title: "reading", All: true, Unit: "reading-%"},
	}}
	if t.Main = filter == recordsTheirs && prefix == "Scan/way="; t.Main { // the author's of the others have another cost
		t.Columns = slices.Insert(t.Columns, 0, Column{Title: "the article, all records", There: "*"},
			Column{Title: "the article, a record", There: "*", Unit: "sec/record"})
		t.Rows = slices.Concat(begin(prefix, "CSV", "direct", "channel-done", "channel-done/buffer=1", "channel-done/buffer=1000", "channel",
			"channel/buffer=1000"), channels(prefix, "context", "context-a-record"),
			begin(prefix+"batches/records=", "1", "10", "100", "1000", "10000", "100000"), begin(prefix+"stream.Generate", "", "/with=Buffer"))
	}
	return t
}
