package templates

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// A rewriter turns a parsed template into one that reaches values by our functions alone:
//
//	{{.data.name}}            → {{show $ . "data.name"}}
//	{{if .data.n}}            → {{if get $ . "data.n" | some}}
//	{{range .data.items}}     → {{range get $ . "data.items" | each $ 7}}
//	{{$x.name | upper}}       → {{get $ $x "name" | upper $ | text $}}
//
// So no method of a Go value can be reached, an absent name is found where it belongs, numbers
// keep their digits, and all work is counted; and what is not on the list of functions, or
// could go on for ever, is refused when the catalogue is read.
type rewriter struct {
	source    string
	html      bool
	functions map[string]function
	found     []found
	uses      map[string]int // name in the data → line where it is first used
}

// found is something wrong at a line of the source, from 1.
type found struct {
	line   int
	detail string
}

func (r *rewriter) problem(n parse.Node, format string, args ...any) {
	r.found = append(r.found, found{r.line(n), fmt.Sprintf(format, args...)})
}

func (r *rewriter) line(n parse.Node) int {
	at := min(int(n.Position()), len(r.source))
	return 1 + strings.Count(r.source[:at], "\n")
}

// list rewrites nodes; top says whether "." is the root there.
func (r *rewriter) list(l *parse.ListNode, top bool) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.BreakNode, *parse.ContinueNode, *parse.CommentNode:
		case *parse.ActionNode:
			r.pipe(n.Pipe, top)
			if len(n.Pipe.Decl) == 0 {
				output(n.Pipe)
			}
		case *parse.IfNode:
			r.branch(&n.BranchNode, top, top, command(n.Pos, "some"))
		case *parse.WithNode:
			r.branch(&n.BranchNode, top, false, command(n.Pos, "some"))
		case *parse.RangeNode:
			r.branch(&n.BranchNode, top, false, command(n.Pos, "each", root(), integer(weight(n.List))))
		default:
			r.problem(n, "%s is not supported: one file is one template", n)
		}
	}
}

func (r *rewriter) branch(b *parse.BranchNode, top, inside bool, last *parse.CommandNode) {
	r.pipe(b.Pipe, top)
	b.Pipe.Cmds = append(b.Pipe.Cmds, last)
	r.list(b.List, inside)
	r.list(b.ElseList, top)
}

// output lets a pipeline end in text.
func output(p *parse.PipeNode) {
	first, isCall := p.Cmds[0].Args[0].(*parse.IdentifierNode)
	if len(p.Cmds) == 1 && isCall && first.Ident == "get" {
		p.Cmds[0].Args[0] = identifier(p.Pos, "show")
		return
	}
	p.Cmds = append(p.Cmds, command(p.Pos, "text", root()))
}

func (r *rewriter) pipe(p *parse.PipeNode, top bool) {
	for _, v := range p.Decl {
		if v.Ident[0] == "$" {
			r.problem(p, "$ is the root and cannot be set")
		}
	}
	for i, c := range p.Cmds {
		r.command(c, top, i > 0)
	}
}

// command rewrites one stage of a pipeline; piped says that it gets the value of the stage before.
func (r *rewriter) command(c *parse.CommandNode, top, piped bool) {
	if id, ok := c.Args[0].(*parse.IdentifierNode); ok {
		r.call(c, id, top, piped)
		return
	}
	if piped || len(c.Args) > 1 {
		r.problem(c, "%s is not a function", c.Args[0])
		return
	}
	if access := r.access(c.Args[0], top); access != nil {
		c.Args = access.Args
		return
	}
	c.Args[0] = r.argument(c.Args[0], top)
}

func (r *rewriter) call(c *parse.CommandNode, id *parse.IdentifierNode, top, piped bool) {
	f, known := r.functions[id.Ident]
	lazy := id.Ident == "and" || id.Ident == "or"
	if !known && !lazy || f.textOnly && r.html {
		r.problem(c, "%s is not available here; functions are and, or, %s", id.Ident, r.names())
		return
	}
	args := c.Args[1:]
	for i, arg := range args {
		args[i] = r.argument(arg, top)
		if _, text := arg.(*parse.StringNode); text && id.Ident == "index" {
			args[i] = parenthesised(command(arg.Position(), "literal", arg))
		}
	}
	given := len(args)
	if piped {
		given++
	}
	if lazy {
		settle(args, piped)
		f.min, f.max = 1, 16
	} else {
		c.Args = append([]parse.Node{id, root()}, args...)
	}
	if given < f.min || given > f.max {
		r.problem(c, "%s takes %s, not %d", id.Ident, f.arity(), given)
	}
}

// settle lets "and" and "or" judge numbers as we do: all but the last value, which is the
// result, are reduced to whether they count as true.
func settle(args []parse.Node, piped bool) {
	if !piped && len(args) > 0 {
		args = args[:len(args)-1]
	}
	for i, arg := range args {
		inner := command(arg.Position(), "some")
		inner.Args = append(inner.Args, arg)
		args[i] = parenthesised(inner)
	}
}

func (r *rewriter) names() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.functions)) {
		if !r.html || !r.functions[name].textOnly {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (f function) arity() string {
	if f.min == f.max {
		return fmt.Sprintf("%d arguments", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

func (r *rewriter) argument(n parse.Node, top bool) parse.Node {
	switch n := n.(type) {
	case *parse.PipeNode:
		r.pipe(n, top)
		return n
	case *parse.IdentifierNode:
		r.problem(n, "put %s in parentheses to use its result", n.Ident)
		return n
	case *parse.NumberNode:
		if !n.IsInt && !n.IsFloat {
			r.problem(n, "%s is not a number that templates know", n)
		}
		return n
	}
	if access := r.access(n, top); access != nil {
		return parenthesised(access)
	}
	return n
}

// access is the call that follows a path of names, or nil if the node is no such path.
func (r *rewriter) access(n parse.Node, top bool) *parse.CommandNode {
	switch n := n.(type) {
	case *parse.FieldNode:
		if top {
			r.fromRoot(n, n.Ident)
		}
		return follow(n.Pos, &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}, n.Ident)
	case *parse.VariableNode:
		if len(n.Ident) == 1 {
			return nil
		}
		if n.Ident[0] == "$" {
			r.fromRoot(n, n.Ident[1:])
		}
		return follow(n.Pos, variable(n.Ident[0]), n.Ident[1:])
	case *parse.ChainNode:
		return follow(n.Pos, r.argument(n.Node, top), n.Field)
	}
	return nil
}

// fromRoot checks a path that starts at the root, and remembers which names of the data are used.
func (r *rewriter) fromRoot(n parse.Node, path []string) {
	members, known := rootMembers()[path[0]]
	if !known {
		r.problem(n, ".%s is not known; templates see .data, .user, .event, .notification, .links and .locale", path[0])
		return
	}
	if len(path) < 2 {
		return
	}
	if members != nil && !slices.Contains(members, path[1]) {
		r.problem(n, ".%s.%s is not known", path[0], path[1])
	}
	if _, seen := r.uses[path[1]]; path[0] == "data" && !seen {
		r.uses[path[1]] = r.line(n)
	}
}

func follow(at parse.Pos, from parse.Node, path []string) *parse.CommandNode {
	joined := strings.Join(path, ".")
	return command(at, "get", root(), from, &parse.StringNode{NodeType: parse.NodeString, Quoted: strconv.Quote(joined), Text: joined})
}

// command is a call at a place of the source, which errors then tell.
func command(at parse.Pos, function string, args ...parse.Node) *parse.CommandNode {
	call := append([]parse.Node{identifier(at, function)}, args...)
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: call}
}

func identifier(at parse.Pos, name string) *parse.IdentifierNode {
	return parse.NewIdentifier(name).SetPos(at)
}

func parenthesised(c *parse.CommandNode) *parse.PipeNode {
	return &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{c}}
}

func root() parse.Node { return variable("$") }

func variable(name string) *parse.VariableNode {
	return &parse.VariableNode{NodeType: parse.NodeVariable, Ident: []string{name}}
}

func integer(i int) parse.Node {
	return &parse.NumberNode{NodeType: parse.NodeNumber, IsInt: true, Int64: int64(i), Text: strconv.Itoa(i)}
}

// weight is how much work one pass over the nodes is, without the passes of loops inside.
func weight(l *parse.ListNode) int {
	if l == nil {
		return 0
	}
	work := len(l.Nodes)
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			work += pipeWeight(n.Pipe)
		case *parse.IfNode:
			work += pipeWeight(n.Pipe) + weight(n.List) + weight(n.ElseList)
		case *parse.WithNode:
			work += pipeWeight(n.Pipe) + weight(n.List) + weight(n.ElseList)
		case *parse.RangeNode:
			work += pipeWeight(n.Pipe) + weight(n.ElseList)
		}
	}
	return work
}

func pipeWeight(p *parse.PipeNode) int {
	work := len(p.Decl)
	for _, c := range p.Cmds {
		work += len(c.Args)
		for _, arg := range c.Args {
			if inner, ok := arg.(*parse.PipeNode); ok {
				work += pipeWeight(inner)
			}
		}
	}
	return work
}
