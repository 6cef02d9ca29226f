// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// A runner says what runs a command of a document, other than one of testsByName.
type runner struct {
	inCI  bool   // .ci/run has it, perhaps with more arguments
	test  string // this function of a test file, as FILE:FUNCTION, runs it
	never string // why nothing runs it

	// If none of these is set, TestCommands runs it in the tree.
	inModule bool              // in the module of a user, not in the tree
	long     bool              // in the long run only
	less     *strings.Replacer // with these changes, for example for fewer rounds
}

// commands are all commands of documents, except for those that testsByName matches.
var commands = map[string]runner{
	"go test ./...":                {inCI: true},
	"bash .ci/run":                 {never: "it would run itself"},
	"bash .ci/run quick":           {never: "it would run itself"},
	"bash .ci/run release":         {never: "it takes hours"},
	"go run -C cmd/fastmac . demo": {inCI: true},
	"go run -C cmd/fastmac . patch-ssh -C /path/of/your/module":                                     {long: true},
	"go install -C cmd/fastmac .":                                                                   {long: true},
	"go mod edit -require=example.com/fastmac@v0.0.0 -replace=example.com/fastmac=/path/to/fastmac": {inModule: true},

	"GOPRIVATE=example.com go get -u ./...": {inModule: true, long: true},
	"go mod tidy":                           {inModule: true, long: true},
	"go mod edit -replace=golang.org/x/crypto=golang.org/x/crypto@v0.31.0": {inModule: true, less: strings.NewReplacer("edit", "edit -print")}, // TestVersions of internal/interop builds with it

	"GOOS=windows GOARCH=amd64 go build -C cmd/fastmac -o ../../fastmac.exe .": {long: true, less: strings.NewReplacer("../../fastmac.exe", os.DevNull)},

	"fastmac keygen -o KEYFILE":                {inModule: true, long: true},
	"fastmac tag -k KEYFILE -r FOLDER -o SUMS": {inModule: true, long: true},
	"fastmac verify -k KEYFILE SUMS":           {inModule: true, long: true},
	"fastmac install-docs":                     {inModule: true, long: true, less: strings.NewReplacer("install-docs", "install-docs --prefix .")},

	"go run -C cmd/fastmac . bench --quick":                                             {inCI: true},
	"go test -C cmd/fastmac ./...":                                                      {inCI: true},
	"go test -C internal/interop -v -timeout 60m .":                                     {inCI: true},
	"go test -C internal/interop -v -timeout 60m -run TestClients . -mib 256 -rounds 5": {test: "internal/interop/clients_test.go:TestClients"},
	"go test -C packet ./...":                                                           {inCI: true},
	"go test -C packet -run Vectors -update .":                                          {test: "packet/vectors_test.go:TestVectorsFile"},
	"go test -C packet -v -run LongRun -packets 102000000 -timeout 30m .":               {long: true, less: strings.NewReplacer("102000000", "30000")},
	"go test -C internal/programs ./...":                                                {inCI: true},
	"go test -C internal/dropin -v . -sample":                                           {inCI: true},
	"FASTMAC_TEST_LONG=1 go test -C internal/dropin -v -timeout 60m .":                  {test: "internal/dropin/dropin_test.go:TestSuites"},
	"go test -C internal/dropin -v -run Measure . -measure 40":                          {test: "internal/dropin/measure_test.go:TestMeasure"},
	"go test -v ./embedded/...":                                                         {inCI: true},
	"go test ./embedded/avr":                                                            {inCI: true},
	"go test ./embedded/avr/examples/receiver":                                          {inCI: true},
	"go generate ./...":                                                                 {inCI: true},
	"git status --short":                                                                {long: true}, // needs the repository
	"go test -tags purego ./...":                                                        {long: true, less: strings.NewReplacer("./...", "-short -run Vectors ./internal/conformance")},
	"GODEBUG=cpu.avx512f=off go test ./...":                                             {long: true, less: strings.NewReplacer("./...", "-short -run Vectors ./internal/conformance")},
	"go test example.com/fastmac/sshmac":                                                {inModule: true, long: true},
	"go run ./internal/compare sha256":                                                  {long: true, less: strings.NewReplacer("sha256", "-time 1ns sha256")},
	"go run ./internal/compare -op SHA-1 sha256":                                        {long: true, less: strings.NewReplacer("-op", "-time 1ns -op")},
	"go run ./internal/compare -old HEAD -op 'one call'":                                {long: true, less: strings.NewReplacer("-op", "-time 1ns -op")},
	"go run -C internal/assurance ./verify":                                             {inCI: true},
	"go run -C internal/assurance ./verify -changed HEAD":                               {test: "internal/assurance/verify/changed_test.go:TestChanged"},
	"go run -C internal/assurance ./mca":                                                {inCI: true},
	"go run -C internal/assurance ./mutants/golang mutants.json '. -test.short' 'internal/conformance -test.short'":                          {test: "internal/assurance/mutants/golang/main_test.go:TestToy"},
	"go run -C internal/assurance ./mutants/golang -wipes":                                                                                   {test: "internal/assurance/mutants/golang/main_test.go:TestWipes"},
	"go run -C internal/assurance ./timing/valgrind":                                                                                         {inCI: true},
	"FASTMAC_TEST_LONG=1 go test -C internal/assurance -count=1 -v ./timing/qemu":                                                            {test: "internal/assurance/timing/qemu/traces_test.go:TestTraces"},
	"go run -C internal/assurance ./timing/dudect -o timing/dudect/RESULTS.txt":                                                              {test: "internal/assurance/timing/dudect/main_test.go:TestCommand"},
	"go run -C internal/assurance ./mutants/assembly -sample 1 -workers 2 -log mutants.jsonl -cover /tmp":                                    {test: "internal/assurance/mutants/assembly/mutate_test.go:TestTry"},
	"go run -C internal/assurance ./mutants/assembly -answers -sample 1 -workers 2":                                                          {test: "internal/assurance/mutants/assembly/mutate_test.go:TestAnswersOnly"},
	"FASTMAC_TEST_LONG=1 go test ./internal/docs ./internal/kernel -update":                                                                  {test: "internal/docs/api_test.go:TestAPI"},
	"FASTMAC_TEST_LONG=1 go test -C internal/assurance ./arm64 ./timing/qemu -run 'Branches|Instructions' -update":                           {test: "internal/assurance/timing/qemu/instructions_test.go:TestInstructions"},
	"go run -C internal/assurance ./verify -update":                                                                                          {test: "internal/golden/golden_test.go:TestCheck"},
	"go test -C cmd/fastmac ./internal/bench ./internal/demo -update":                                                                        {long: true, less: strings.NewReplacer("-update", "-run Golden")},
	"go test -run DestroyScan -v ./internal/memory -scans 100":                                                                               {long: true, less: strings.NewReplacer("100", "1")},
	"go test -v -run ExampleUMACKey_Tag .":                                                                                                   {long: true},
	"go test -run '^$' -bench ManyKeys .":                                                                                                    {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -tags purego -run '^$' -bench MAC .":                                                                                            {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -run '^$' -bench Lanes ./internal/sha2":                                                                                         {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -run '^$' -bench Batch .":                                                                                                       {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -run '^$' -bench NonceWrites .":                                                                                                 {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -run '^$' -bench FirstUse -benchtime 300x ./internal/kernel":                                                                    {long: true, less: strings.NewReplacer("300x", "1x")},
	"go test -run '^$' -bench Key ./pbkdf2":                                                                                                  {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -C internal/programs -run '^$' -bench Tokens ./jwtmethod":                                                                       {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -C internal/programs -run '^$' -bench 'Tokens|Verify' -benchtime 5ms -count 150 -cpu 1 ./jwtmethod ./josesigner ./tsig":         {long: true, less: strings.NewReplacer("5ms -count 150", "1x -count 1")},
	"go test -C internal/programs -run '^$' -bench Request ./webhook":                                                                        {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -run '^$' -bench Key ./hwrand":                                                                                                  {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"GODEBUG=cpu.avx2=off go test -run '^$' -bench '^Benchmark(Seal|Open)$' ./aesgcm":                                                        {long: true, less: strings.NewReplacer("-bench ", "-benchtime 1x -bench ")},
	"go run -C internal/peers . -only 'receive|send'":                                                                                        {long: true, less: strings.NewReplacer(" -only", " -quick -only")},
	"go test -C sshmac -run '^$' -bench New .":                                                                                               {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},
	"go test -C sshmac -run '^$' -bench Connection -cpu 1 -benchtime 60000x .":                                                               {long: true, less: strings.NewReplacer("60000x", "1x")},
	"go run -C internal/peers . -tables":                                                                                                     {test: "internal/peers/main_test.go:TestTables"},
	"go run -C internal/peers . -page":                                                                                                       {test: "internal/peers/main_test.go:TestPage"},
	"go run -C internal/peers . -check":                                                                                                      {never: "it takes half an hour; .ci/run runs it with -quick"},
	"go run -C internal/peers . -check -o results/NAME.json":                                                                                 {never: "it takes half an hour; .ci/run runs it with -quick"},
	"avr-gcc -mmcu=atmega1284p -DF_CPU=16000000UL -Os -I plain -I ../../src -o sensor.elf ../../src/*.[cS] -x c++ sensor.ino plain/main.cpp": {test: "embedded/avr/examples/receiver/board_test.go:newBoard"},
	"avr-objcopy -O ihex sensor.elf sensor.hex":                                                                                              {test: "embedded/avr/examples/receiver/board_test.go:newBoard"},
	"avr-gcc -mmcu=atmega1284p -Os -Isrc -o firmware.elf main.c src/sha512.c src/hmac_sha512.c src/sha512_avr.S":                             {test: "embedded/avr/avr_test.go:TestREADME"},
	"mkdir ~/sensors": {never: "the tests use a temporary folder"},
	"go run ../receiver -dir ~/sensors -new 1 key.h":     {test: "embedded/avr/examples/receiver/board_test.go:newBoard"},
	"go run ../receiver -dir ~/sensors /dev/ttyUSB0":     {test: "embedded/avr/examples/receiver/board_test.go:newBoard"},
	"stty -F /dev/ttyUSB0 38400 raw clocal -hupcl -echo": {never: "it needs a board"},

	"GOGC=1 GODEBUG=clobberfree=1,gccheckmark=1 go test -short . ./aesgcm ./hwrand ./internal/conformance ./internal/memory": {inCI: true},
	"GOFIPS140=v1.0.0 go test -C sshmac -short .":                                     {inCI: true},
	"GOFIPS140=v1.0.0 go test -short . ./hmac ./hkdf ./pbkdf2 ./internal/conformance": {inCI: true},
	"go test -run '^$' -fuzz '^FuzzUMACStream$' -fuzztime 1m ./internal/conformance":  {long: true, less: strings.NewReplacer("1m", "100x -fuzzminimizetime 10x -parallel 1")},
	"go run golang.org/x/vuln/cmd/govulncheck@v1.2.0 ./...":                           {inCI: true},

	"git grep -lF example.com/fastmac | xargs sed -i 's#example\\.com/fastmac#NEW/PATH#g'": {test: "internal/docs/commands_test.go:TestRename"},
	"git ls-files '*.go' | xargs gofmt -w":                                                 {test: "internal/docs/commands_test.go:TestRename"},

	"fastmac tag -k KEYFILE --update SUMS":                                         {inModule: true, long: true},
	"fastmac tag -k KEYFILE --update SUMS --accept-changes":                        {inModule: true, long: true},
	"fastmac tag -k NEWKEY --old-key KEYFILE --update SUMS":                        {inModule: true, long: true, less: strings.NewReplacer("fastmac tag", "fastmac keygen -o NEWKEY; fastmac tag")},
	`fastmac tag -k KEYFILE -r FOLDER -o SUMS --exclude "*.tmp" --exclude /cache/`: {inModule: true, long: true, less: strings.NewReplacer("-o SUMS", "-o SUMS2")},
	"fastmac tag -k KEYFILE -r FOLDER -o SUMS --exclude-caches --one-file-system":  {inModule: true, long: true, less: strings.NewReplacer("-o SUMS", "-o SUMS5")},

	"fastmac verify -k KEYFILE --special SUMS < BACKUP.tar": {inModule: true, long: true, less: strings.NewReplacer("fastmac verify",
		"tar -cf - FOLDER | tee BACKUP.tar | fastmac tag -k KEYFILE -o SUMS3 - && fastmac verify", " SUMS ", " SUMS3 ")},
	"fastmac verify -k KEYFILE --complete FOLDER SUMS":                                                                   {inModule: true, long: true},
	"fastmac tag -k KEYFILE -r FOLDER -o SUMS --label photos":                                                            {inModule: true, long: true, less: strings.NewReplacer("-o SUMS", "-o SUMS4")},
	"fastmac verify -k KEYFILE --complete FOLDER SUMS --label photos --at-least SERIAL":                                  {inModule: true, long: true, less: strings.NewReplacer("fastmac verify", "echo 0 > SERIAL; fastmac verify", " SUMS ", " SUMS4 ")},
	"go mod edit -require=example.com/fastmac/packet@v0.0.0 -replace=example.com/fastmac/packet=/path/to/fastmac/packet": {inModule: true},
	"go mod edit -require=example.com/fastmac/sshmac@v0.0.0 -replace=example.com/fastmac/sshmac=/path/to/fastmac/sshmac": {inModule: true},
	"go test -C sshmac ./...": {inCI: true},
	"go test -C packet -run '^$' -bench 'Packet|Many|Cores|Hello' .": {long: true, less: strings.NewReplacer("-bench", "-benchtime 1x -bench")},

	"CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' .": {inModule: true, long: true, less: small},
	"GOOS=wasip1 GOARCH=wasm go build -o mac.wasm .":      {inModule: true, long: true, less: small},
	"go build -race .":                         {inModule: true, long: true},
	"go build -buildmode=plugin -o mac.so .":   {inModule: true, long: true, less: small},
	"go build -buildmode=c-archive -o mac.a .": {inModule: true, long: true, less: notOptimized},
	// The folder goes: later commands change go.mod.
	"go mod vendor": {inModule: true, long: true, less: strings.NewReplacer("vendor", "vendor && rm -r vendor")},
	"CGO_ENABLED=0 go build -mod=vendor ./...": {inModule: true, long: true, less: strings.NewReplacer("CGO", "go mod vendor && CGO", "./...", "./... && rm -r vendor")},
}

// notOptimized is for builds of all imported packages that no other command needs, and small for those that a
// program with few of them can show.
var (
	notOptimized = strings.NewReplacer("go build", "go build -gcflags='all=-N -l'")
	small        = strings.NewReplacer("go build", "go build -gcflags='all=-N -l'", " .", " ./programs/small")
)

// inText matches a command in a sentence or a table: what does something, with arguments.
var inText = regexp.MustCompile("`((?:[A-Z0-9_]+=\\S+ )*(?:go (?:run|test|generate|install -C)|bash) [^`]+)`")

// placeholder matches what go install has in text, which is no command of this tree.
var placeholder = regexp.MustCompile(`^go install \.\.\.@`)

// documentCommands returns the commands of a document, with their lines.
func documentCommands(t *testing.T, document string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, b := range documentBlocks(t, document) {
		if b.language != "sh" {
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
			line = strings.TrimSpace(line)
			if word, _, _ := strings.Cut(variables.ReplaceAllString(line, ""), " "); programs[word] {
				found[line] = b.line + i
			}
		}
	}
	for i, line := range strings.Split(readText(t, document), "\n") {
		for _, m := range inText.FindAllStringSubmatch(line, -1) {
			if strings.Contains(m[1], `\|`) {
				t.Errorf("%s:%d: %s: copied from a table, it has the backslash", document, i+1, m[1])
			}
			if !placeholder.MatchString(m[1]) {
				found[m[1]] = i + 1
			}
		}
	}
	return found
}

// variables matches those that are set for a command, before it.
var variables = regexp.MustCompile(`^(?:[A-Z0-9_]+=\S+ )+`)

// programs are the first words of commands in indented blocks. Other such blocks are output,
// formulas or C.
var programs = map[string]bool{"fastmac": true, "go": true, "bash": true, "git": true, "mkdir": true, "stty": true, "avr-gcc": true, "avr-objcopy": true}

// TestCommands checks that every command of the documents is run: here, by another test,
// or by .ci/run. Of a command that runs tests by name it checks that there are such tests. The long run adds those that take more than a few seconds.
func TestCommands(t *testing.T) {
	mactest.NeedGo(t)
	needShell(t)
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	module, bin := userModule(t), t.TempDir()
	placeholders := strings.NewReplacer("/path/to/fastmac", tree, "/path/of/your/module", module, "FOLDER", filepath.Join(tree, "docs"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	checked := make(map[string]bool)
	for _, document := range append(documents(t), "embedded/avr/README.md", "embedded/avr/examples/sensor/README.md") {
		found := documentCommands(t, document)
		for _, command := range slices.SortedFunc(maps.Keys(found), func(a, b string) int { return found[a] - found[b] }) {
			if checked[command] {
				continue
			}
			checked[command] = true
			where := fmt.Sprintf("%s:%d: %s", document, found[command], command)
			how, ok := commands[command]
			switch {
			case !ok && testsByName.MatchString(command):
				checkTests(t, where, command)
			case !ok:
				t.Errorf("%s: is not in commands", where)
			case how.never != "":
			case how.inCI:
				if !inCI(t, command) {
					t.Errorf("%s: .ci/run does not run it", where)
				}
			case how.test != "":
				file, function, _ := strings.Cut(how.test, ":")
				content, err := os.ReadFile(filepath.FromSlash(file))
				if err != nil || !strings.Contains(string(content), "func "+function+"(") {
					t.Errorf("%s: no function %s in %s (%v)", where, function, file, err)
				}
			case how.long && !mactest.Long():
			default:
				if how.less != nil {
					command = how.less.Replace(command)
				}
				cmd := exec.Command("sh", "-c", placeholders.Replace(command))
				if how.inModule {
					cmd.Dir = module
				}
				cmd.Env = append(mactest.HostEnv(), "GOBIN="+bin, "FASTMAC_TEST_LONG=")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", where, err, out)
				}
			}
		}
	}
	for command := range commands {
		if !checked[command] {
			t.Errorf("no document has the command %q of commands", command)
		}
	}
}

// needShell skips a test of commands where there is no shell that runs them as they are written.
func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs a shell, and paths with slashes")
	}
}

// testsByName matches commands that run tests by their names: the module if that is not the
// root, the names, and the packages. These tests also run without the command.
var testsByName = regexp.MustCompile(`^(?:[A-Z0-9_]+=\S+ )*go test (?:-C (\S+) )?.*-run '?([^' ]+)'? ([./\w ]+)$`)

// checkTests checks that each of the names that a command of testsByName has is that of a
// test in one of its packages.
func checkTests(t *testing.T, where, command string) {
	t.Helper()
	m := testsByName.FindStringSubmatch(command)
	var functions []string
	for _, folder := range strings.Fields(m[3]) {
		files, err := filepath.Glob(filepath.Join(m[1], folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range testFunction.FindAllSubmatch(content, -1) {
				functions = append(functions, string(f[1]))
			}
		}
	}
	for name := range strings.SplitSeq(m[2], "|") {
		if !slices.ContainsFunc(functions, regexp.MustCompile(name).MatchString) {
			t.Errorf("%s: no test has the name %s", where, name)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// inCI reports whether a line of .ci/run that runs something has the words of the command,
// in their order. There may be other words between them, and ./a/... stands for all folders
// in a.
func inCI(t *testing.T, command string) bool {
	t.Helper()
	for line := range strings.Lines(readCI(t)) {
		line, _, _ = strings.Cut(line, " 2>")
		words := strings.Fields(line)
		if len(words) == 0 || !slices.Contains([]string{"run", "on", "unskipped", "vulncheck"}, words[0]) {
			continue
		}
		left := strings.Fields(command)
		for _, word := range words[1:] {
			if len(left) == 0 {
				break
			}
			folder, all := strings.CutSuffix(word, "...")
			if word == left[0] || all && strings.HasPrefix(left[0], folder) {
				left = left[1:]
			}
		}
		if len(left) == 0 {
			return true
		}
	}
	return false
}

// untilPublic matches, in a line of a document, what is true only as long as the module has no
// public path.
var untilPublic = regexp.MustCompile(`no public (?:home|path)|GOPRIVATE|/path/to/fastmac|a public path first|\*\*A public path`)

// TestPublicPath checks that the recipe of CONTRIBUTING.md for a public path lists all lines of
// documents that untilPublic matches, and that each of its rows is of such a line.
func TestPublicPath(t *testing.T) {
	_, recipe, _ := strings.Cut(readText(t, "CONTRIBUTING.md"), "**A public path.**")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	used := make(map[string]bool) // rows of the recipe, as DOCUMENT: TEXT
	for _, m := range regexp.MustCompile("(?m)^\\| (\\S+\\.md) \\| `([^|]+)` \\|").FindAllStringSubmatch(recipe, -1) {
		used[m[1]+": "+m[2]] = false
	}
	for _, document := range documents(t) {
		for line := range strings.Lines(readText(t, document)) {
			if !untilPublic.MatchString(line) || strings.Contains(recipe, line) {
				continue
			}
			listed := false
			for row := range used {
				if in, text, _ := strings.Cut(row, ": "); in == document && strings.Contains(line, text) {
					used[row], listed = true, true
				}
			}
			if !listed {
				t.Errorf("the recipe for a public path does not list %s: %.80s", document, line)
			}
		}
	}
	for row, found := range used {
		if !found {
			t.Errorf("the recipe for a public path lists a line that is no longer there: %s", row)
		}
	}
}

// TestRename follows the recipe of CONTRIBUTING.md for another module path, in the long run.
func TestRename(t *testing.T) {
	mactest.NeedGo(t)
	needShell(t)
	if !mactest.Long() {
		t.Skip("for the long run: builds a copy of the tree")
	}
	dir := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("git", "clone", "-q", ".", dir).CombinedOutput(); err != nil {
		t.Skipf("not in a git repository: %s", out)
	}
	var recipe []string
	for command, how := range commands {
		if how.test == "internal/docs/commands_test.go:TestRename" {
			recipe = append(recipe, strings.ReplaceAll(command, "NEW/PATH", "github.com/me/fastmac"))
		}
	}
	slices.Sort(recipe) // git grep, then git ls-files
	for _, command := range append(recipe, "go vet ./...", "go vet -C sshmac .", "go vet -C cmd/fastmac .", "go vet -C internal/programs ./...") {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = dir, mactest.HostEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gofmt would change: %s (%v)", out, err)
	}
	left := exec.Command("git", "grep", "-nF", "example.com/fastmac")
	left.Dir = dir
	if out, _ := left.CombinedOutput(); len(out) > 0 {
		t.Errorf("the old path is still in: %s", out)
	}
}
