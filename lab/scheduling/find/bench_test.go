// Package find measures the search of documents, one at a time or concurrently, under the names of the article on scheduling:
//
//	GOGC=off go test -cpu 1 -run none -bench . -benchtime 3s
//
// An op searches a thousand documents, as the article's text and program have it; its headings say ten thousand. To read
// one takes a sleep of a millisecond, and to decode it. The article's document has one item.
package find

import (
	"encoding/xml"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
)

var (
	documents  = flag.Int("documents", 1000, "documents to search")
	items      = flag.Int("items", 1, "items of a document: more of them take longer to decode")
	goroutines = flag.Int("goroutines", runtime.NumCPU(), "goroutines of BenchmarkConcurrent; the limit of libraries is ten times as many")
)

func TestMain(m *testing.M) { bench.Main(m) }

func BenchmarkSequential(b *testing.B)      { measure(b, models.Sequential) }
func BenchmarkConcurrent(b *testing.B)      { measure(b, workers(*goroutines)) }
func BenchmarkSequentialAgain(b *testing.B) { measure(b, models.Sequential) }
func BenchmarkConcurrentAgain(b *testing.B) { measure(b, workers(*goroutines)) }

// BenchmarkWorkers is BenchmarkConcurrent with more and more goroutines.
func BenchmarkWorkers(b *testing.B) {
	for _, n := range []int{4, 8, 16, 32, 64, 128, 256, 512, 1000} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) { measure(b, workers(n)) })
	}
}

// BenchmarkFind is the search by libraries.
func BenchmarkFind(b *testing.B) {
	models.Each(b, "model=", models.Libraries(10**goroutines), measure)
}

// workers returns the article's model: goroutines that receive from a channel which has all documents.
func workers(n int) models.Model {
	return func(list []float64, search models.Item) uint64 {
		queue := make(chan float64, len(list))
		for _, i := range list {
			queue <- i
		}
		close(queue)
		return models.Sum(n, func(int) (found uint64) {
			for i := range queue {
				found += search(i)
			}
			return found
		})
	}
}

// measure searches documents, of which one in 25 cannot be decoded: it is skipped, and adds skipped to the result.
func measure(b *testing.B, m models.Model) {
	n, wait := bench.Short(*documents, 50), bench.Short(time.Millisecond, 10*time.Microsecond)
	text := []byte(xml.Header + "<rss><channel><title>News</title>" + strings.Repeat(item, *items) + "</channel></rss>")
	list, docs, want := models.Indexes(n), make([][]byte, n), uint64(0)
	for i := range docs {
		docs[i] = text
		want += uint64(i) + uint64(*items)
		if i%25 == 24 {
			docs[i] = text[:len(text)/2]
			want += skipped - uint64(*items)
		}
	}
	var g bench.Gauge
	bench.Scheduled(b, want, func() uint64 {
		return m(list, func(i float64) uint64 {
			g.Enter()
			defer g.Leave()
			time.Sleep(wait)
			return uint64(i) + search(docs[int(i)])
		})
	})
	g.Report(b)
}

const (
	skipped = 1 << 32
	topic   = "election"
	item    = `<item><title>Storm plan of the city</title><link>https://example.org/0</link>` +
		`<pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate><description>The market and the new election.</description></item>`
)

// search returns the number of items whose description has the topic.
func search(doc []byte) (found uint64) {
	var feed struct {
		Items []struct {
			Title       string `xml:"title"`
			Link        string `xml:"link"`
			Published   string `xml:"pubDate"`
			Description string `xml:"description"`
		} `xml:"channel>item"`
	}
	if xml.Unmarshal(doc, &feed) != nil {
		return skipped
	}
	for _, item := range feed.Items {
		if strings.Contains(item.Description, topic) {
			found++
		}
	}
	return found
}
