package template

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hostile are items that a shell would change or run if they were part of a script.
var hostile = []string{
	"plain", "", "-n", "a/b  c.d", ".h/.i.j", "*", "{} {1}", `a\nb\`, "line\n\nline\n", "';touch x;'", `";touch x;"`, "$(touch x)`touch x`\ntouch x\n",
	" ~ $HOME ${1} $'x' it's \"q\" a;b&c|d>x <x # ! (x) [a] \x01\x7f\xff\xfe é\u2028 \t\r",
}

// scripts are scripts, what they print of the item I, and the shell that they need.
// {.} and the like in the second column are what these are of the item.
var scripts = []struct{ script, want, shell string }{
	{`printf '[%s]' {}`, `[I]`, ""},
	{`printf '[%s]' x{}y "x{}y" 'x{}y'`, `[xIy][xIy][xIy]`, ""},
	{`printf '[%s]' {.} {/} "{//}" '{/.}' {1.}`, `[{.}][{/}][{//}][{/.}][{.}]`, ""},
	{`printf '[%s]' {#} {%} "{#}" '{%}'`, `[7][3][7][3]`, ""},
	{`printf '[%s]' a{2}b {2} "{2}" '{-2}' "a{2.}b"`, `[ab][][][][ab]`, ""},
	{`printf '[%s]' \{} "\{}" '\{}'`, `[{}][\{}][\I]`, ""},
	{`printf '[%s]' "a'{}'b" 'a"{}"b'`, `[a'I'b][a"I"b]`, ""},
	{`printf '[%s]' $'\'{}\n' $'{.}'`, "['I\n][{.}]", "bash"},
	{`printf '[%s]' "$(printf %s. {})" "$(printf %s. "{}")" "$(printf %s. '{}')"`, `[I.][I.][I.]`, ""},
	{"printf '[%s]' \"`printf %s. {}`\" \"`printf %s. '{}'`{}\"", `[I.][I.I]`, ""},
	{`(printf '[%s]' "$( (printf %s. '{}') ){}" '{}')`, `[I.I][I]`, ""},
	{`printf '[%s]' "$(printf %s. "$(printf %s. {} "{1}" '{}')" "${none:-"{}"}")" '{-1}'`, `[I.I.I..I.][I]`, ""},
	{"printf '[%s]' \"$( (printf %s. {}) # it's (\n)\" \"$(printf %s. \"`printf %s. '{}'`\")\" {}", `[I.][I..][I]`, ""},
	{`printf '[%s]' "${#}" "$@"`, `[1][I]`, ""},
	{`printf '[%s]' "$(case a in (a) printf %s. {};; esac)" "{}"`, `[I.][I]`, ""},
	{`case {} in "$1") printf '[%s]' {};; esac`, `[I]`, ""},
	{`printf '[%s]' "${nothing:-{}}" ${nothing:-'{}'} "${nothing-"{}"}"`, `[I][I][I]`, ""},
	{"printf '[%s]' {} # don't \"{}\n printf '[%s]' {} '{}' # {}", `[I][I][I]`, ""},
	{"# don't\nprintf '[%s]' {}# a#'{}' ${#}{}", `[I#][a#I][1I]`, ""},
	{`printf '[%s]' "(" ')' {} '$((' {} ')' "))" {}`, `[(][)][I][$((][I][)][))][I]`, ""},
	{`printf '[%s]' $((2*(3+1))) "$((1))" $(( (1) )) {}`, `[8][1][1][I]`, ""},
	{`printf '[%s]' "$'{}'"`, `[$'I']`, ""},
	{`cat <<<{} | { printf '['; cat; printf ']'; }`, "[I\n]", "bash"},
	// Nothing is appended to those below.
	{`printf '[%s]' '$1' \$1 "\$@" \{}`, `[$1][$1][$@][{}]`, ""},
	{"# $1 {}\n printf '[%s]' a#b", `[a#b]`, ""},
}

// shells are those that are installed.
func shells(t *testing.T) []string {
	var found []string
	for _, name := range []string{"sh", "bash", "zsh"} {
		if _, err := exec.LookPath(name); err == nil {
			found = append(found, name)
		}
	}
	if found == nil {
		t.Skip("no shell here")
	}
	return found
}

// runScript returns what a shell prints that runs a script with items.
func runScript(t *testing.T, shell string, s *Script, items ...string) string {
	t.Helper()
	text, env := s.Expand(items, 7, 3)
	cmd := exec.Command(shell, append([]string{"-c", text, "name"}, items...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s -c %q: %v", shell, text, err)
	}
	return string(out)
}

func TestScripts(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, shell := range shells(t) {
		for _, test := range scripts {
			if test.shell != "" && test.shell != shell {
				continue
			}
			s := ParseScript(strings.Split(test.script, " "), "")
			for _, item := range hostile {
				want := strings.NewReplacer("I", item, "{.}", noExt.apply(item), "{/}", base.apply(item), "{//}", dir.apply(item), "{/.}", baseNoExt.apply(item)).Replace(test.want)
				if got := runScript(t, shell, s, item); got != want {
					t.Errorf("%s: %s with %q prints %q, want %q", shell, test.script, item, got, want)
				}
			}
		}
	}
	if entries, err := os.ReadDir("."); len(entries) > 0 || err != nil {
		t.Errorf("an item was run: %v, %v", entries, err)
	}
}

// TestScriptOfItems gives a script several items.
func TestScriptOfItems(t *testing.T) {
	items := []string{"a  1.x", "d/b'.y", "*"}
	for _, shell := range shells(t) {
		for script, want := range map[string]string{
			`printf '[%s]' {}`:               "[a  1.x][d/b'.y][*]",
			`printf '[%s]' x{}y "x{}y"`:      "[xa  1.x][d/b'.y][*y][xa  1.x][d/b'.y][*y]",
			`printf '[%s]' 'x{}y'`:           "[xa  1.x][d/b'.y][*y]",
			`printf '[%s]' {.} "x{.}"`:       "[a  1][d/b'][*][xa  1][d/b'][*]",
			`printf '[%s]' 'x{/}y' {//}`:     "[xa  1.x][b'.y][*y][.][d][.]",
			`printf '[%s]' {2} {1.} "{-1}"`:  "[d/b'.y][a  1][*]",
			`printf '[%s]' $(({#}*({%}+1)))`: "[28]",
			`shift; printf '[%s]' "$1" $#`:   "[d/b'.y][2]",
		} {
			if got := runScript(t, shell, ParseScript([]string{script}, ""), items...); got != want {
				t.Errorf("%s: %s prints %q, want %q", shell, script, got, want)
			}
		}
	}
}

func TestScriptText(t *testing.T) {
	for _, test := range []struct{ script, replace, text, env string }{
		{"wc -l", "", `wc -l`, ""},
		{"echo $${} \"$${}\"", "", `echo $$"${1}" "$$${1}"`, ""},
		{"wc @ '@' $@ {}", "@", `wc "${1}" ''"${1}"'' $@ {}`, ""},
		{"echo {%} {/}{//}{/.} {/}", "", `echo "${STINT_SLOT}" "${STINT_1_BASE}""${STINT_1_DIR}""${STINT_1_BASE_NOEXT}" "${STINT_1_BASE}"`, "STINT_SLOT=3 STINT_1_BASE=a.b STINT_1_DIR=. STINT_1_BASE_NOEXT=a"},
		{"echo $(({} * 2)) ${1} ${#} ${%} \"`a '", "", "echo $((${1} * 2)) ${1} ${#} ${%} \"`a '", ""},
		{"echo {#}", "", `echo "${STINT_SEQ}"`, ""}, // whose number is 0
	} {
		text, env := ParseScript([]string{test.script}, test.replace).Expand([]string{"a.b"}, 0, 3)
		if text != test.text || strings.Join(env, " ") != test.env {
			t.Errorf("%s is %s with %q, want %s with %s", test.script, text, env, test.text, test.env)
		}
	}
}

func TestConstant(t *testing.T) {
	for script, want := range map[string]bool{`date`: true, `{ date; } \{}`: true, `echo {#}`: false, `wc "$1"`: false} {
		if got := ParseScript([]string{script}, "").Constant(); got != want {
			t.Errorf("%s: %v, want %v", script, got, want)
		}
	}
}

// TestFill wants scripts as a person reads them.
func TestFill(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"gzip -dc {} | wc -l", "gzip -dc a.x 'b c' | wc -l"},
		{`echo "{}" '{2}' $(cat {1})`, `echo "a.x b c" 'b c' $(cat a.x)`},
		{"echo {#} {%} {.} x{1/}y {3}", "echo 7 {%} a 'b c' xa.xy ''"},
		{`test "$1" = "$2"`, `set -- a.x 'b c'; test "$1" = "$2"`},
		{`echo {#} "$@"`, `set -- a.x 'b c'; echo 7 "$@"`},
	} {
		if got := ParseScript([]string{test.script}, "").Fill([]string{"a.x", "b c"}, 7); got != test.want {
			t.Errorf("%s is %s, want %s", test.script, got, test.want)
		}
	}
	if got, want := ParseScript([]string{`cat "$@"`}, "").Fill(nil, 1), `cat "$@"`; got != want {
		t.Errorf("without items: %s, want %s", got, want)
	}
}
