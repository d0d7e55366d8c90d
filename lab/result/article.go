package result

// An Article is a text whose experiments the laboratory repeats, as its key in files.
type Article string

// The articles. The titles of two are not known: only their texts were at hand.
const (
	Pools       Article = "pools"
	Scheduling  Article = "scheduling"
	Survey      Article = "survey"
	WorkerPools Article = "worker-pools"
	Channels    Article = "channels"
)

// Articles returns all articles in the order of reports.
func Articles() []Article { return []Article{Pools, Scheduling, Survey, WorkerPools, Channels} }

// A Source says where an article is found.
type Source struct {
	Title  string
	Author string // empty: not known
	Site   string // empty: not known
}

// Source returns where the article is found, or the zero Source for another key.
func (a Article) Source() Source {
	return map[Article]Source{
		Pools:       {Title: "a series on goroutine pools: pipeline, fan and pool"},
		Scheduling:  {"Scheduling In Go: Part III - Concurrency", "William Kennedy", "ardanlabs.com"},
		Survey:      {Title: "a survey of goroutine pool libraries: goroutines, errgroup, conc and ants"},
		WorkerPools: {Title: "Goroutine Worker Pools in Go", Site: "goperf.dev"},
		Channels:    {"Goroutines and Channels Aren't Free", "Elliott Jin", "medium.com/@robot_dreams"},
	}[a]
}

// A Figure is an author's own figure for a model of a case, with its unit and machine.
type Figure struct {
	Model string `json:"model"`
	Text  string `json:"text"`
}
