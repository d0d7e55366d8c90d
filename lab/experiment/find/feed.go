package find

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
)

// topic is the word to find. It is not in words.
const topic = "election"

var words = strings.Fields("the a of market and city to in water says new after over people report year with first court from game " +
	"police for school on house team with government more than state deal storm plan as bank night film study price")

// One document in unreadable has only its first half, and cannot be decoded.
// Its result is skipped, which is more than the matches of all others.
const (
	unreadable = 25
	skipped    = 1 << 32
)

// feed returns an RSS text of about ten items, and the number of items whose
// description has the topic. The same r gives the same text.
func feed(r *rand.Rand) (text []byte, found uint64) {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<rss version="2.0"><channel><title>News</title><link>https://example.org/</link><description>Of today</description>` + "\n")
	for i := range 8 + r.IntN(5) {
		title, description := sentence(r, 7), sentence(r, 25+r.IntN(20))
		if r.IntN(3) == 0 {
			found++
			description += " " + topic
		}
		fmt.Fprintf(&b, "<item><title>%s</title><link>https://example.org/%d</link><pubDate>Mon, 02 Jan 2006 15:%02d:05 GMT</pubDate>", title, i, i)
		fmt.Fprintf(&b, "<guid>%d</guid><description>%s</description></item>\n", r.Uint32(), description)
	}
	b.WriteString("</channel></rss>\n")
	return b.Bytes(), found
}

func sentence(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[r.IntN(len(words))]
	}
	return strings.Join(out, " ")
}

// find returns the number of items in a feed whose description has the topic,
// or skipped if it cannot be decoded.
func find(text []byte) (found uint64) {
	var feed struct {
		Items []struct {
			Title       string `xml:"title"`
			Link        string `xml:"link"`
			Published   string `xml:"pubDate"`
			Description string `xml:"description"`
		} `xml:"channel>item"`
	}
	if err := xml.Unmarshal(text, &feed); err != nil {
		return skipped
	}
	for _, item := range feed.Items {
		if strings.Contains(item.Description, topic) {
			found++
		}
	}
	return found
}
