package goroutines

func provoke() {
	for i := range 100_000 { // a test may
		go process(i)
	}
}
