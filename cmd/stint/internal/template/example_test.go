package template

import "fmt"

func ExampleTemplate() {
	convert := Parse([]string{"convert", "{}", "-resize", "50%", "small/{/.}.png"}, "")
	fmt.Println(Quote(convert.Expand([]string{"in/my cat.jpg"}, 1, 1)))

	send := Parse([]string{"send", "--file={}"}, "")
	fmt.Println(Quote(send.Expand([]string{"a", "b"}, 1, 1)))
	// Output:
	// convert 'in/my cat.jpg' -resize 50% 'small/my cat.png'
	// send '--file=a' '--file=b'
}

func ExampleScript() {
	count := ParseScript([]string{"gzip -dc {} | wc -l > {.}"}, "")
	text, env := count.Expand([]string{"my log.gz"}, 1, 1)
	fmt.Println(text)
	fmt.Println(env)
	// Output:
	// gzip -dc "${1}" | wc -l > "${STINT_1_NOEXT}"
	// [STINT_1_NOEXT=my log]
}
