module example.com/traps

go 1.26.0

require github.com/stint-go/stint v0.0.0

replace github.com/stint-go/stint => ../..
