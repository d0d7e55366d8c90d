module github.com/stint-go/stint

go 1.26
