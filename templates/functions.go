package templates

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A function is one that templates may call. Its work is accounted for before it runs.
type function struct {
	min, max int  // how many arguments
	textOnly bool // not in HTML, where the context already escapes
	call     func(s *scope, args []any) (any, error)
}

// functions are all that templates may call besides "and" and "or", which stop at the first
// argument that settles them.
//
//	eq A B…        A equals one of the others; numbers by value, text by letter; other kinds differ
//	ne A B         A and B differ
//	lt, le, gt, ge two numbers by value, or two texts by letter
//	not A          A is null, false, zero or empty
//	default A B    B, unless it is null, false, zero or empty: then A
//	has OBJECT N   the object has a member N (a name used without that must be there)
//	index X KEY…   the element of a list (from 0) or the member of an object
//	len X          how many elements, members or characters
//	join SEP LIST  the elements with SEP between them
//	lower, upper   a text in small or capital letters
//	trim A         a text without white space around it
//	truncate N A   the first N characters, the last of them … where something was cut off
//	urlquery A     a text fit for a URL; not in HTML, where links are escaped as they are
func functions() map[string]function {
	compare := func(holds func(order int) bool) function {
		return function{min: 2, max: 2, call: func(_ *scope, args []any) (any, error) {
			order, err := compare(args[0], args[1])
			return holds(order), err
		}}
	}
	onText := func(change func(string) string) function {
		return function{min: 1, max: 1, call: func(_ *scope, args []any) (any, error) {
			t, err := textOf(args[0])
			return change(t), err
		}}
	}
	query := onText(url.QueryEscape)
	query.textOnly = true
	return map[string]function{
		"eq":       {min: 2, max: 16, call: equalsOne},
		"ne":       {min: 2, max: 2, call: func(_ *scope, args []any) (any, error) { return !equal(args[0], args[1]), nil }},
		"lt":       compare(func(order int) bool { return order < 0 }),
		"le":       compare(func(order int) bool { return order <= 0 }),
		"gt":       compare(func(order int) bool { return order > 0 }),
		"ge":       compare(func(order int) bool { return order >= 0 }),
		"not":      {min: 1, max: 1, call: func(_ *scope, args []any) (any, error) { return !truth(args[0]), nil }},
		"default":  {min: 2, max: 2, call: fallback},
		"has":      {min: 2, max: 2, call: hasMember},
		"index":    {min: 2, max: 16, call: index},
		"len":      {min: 1, max: 1, call: length},
		"join":     {min: 2, max: 2, call: join},
		"lower":    onText(strings.ToLower),
		"upper":    onText(strings.ToUpper),
		"trim":     onText(strings.TrimSpace),
		"truncate": {min: 2, max: 2, call: truncate},
		"urlquery": query,
	}
}

// invoke runs a function within the scope's allowance.
func (f function) invoke(s *scope, args []any) (any, error) {
	work := 1
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			work += len(arg) / 64
		case number:
			work += len(arg) / 8 // taken apart for comparing
		}
	}
	if err := s.spend(work); err != nil {
		return nil, err
	}
	return f.call(s, args)
}

func equalsOne(_ *scope, args []any) (any, error) {
	for _, other := range args[1:] {
		if equal(args[0], other) {
			return true, nil
		}
	}
	return false, nil
}

// equal compares by value; values of different kinds differ, and so do lists and objects.
func equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		other, ok := b.(bool)
		return ok && a == other
	}
	order, err := compare(a, b)
	return err == nil && order == 0
}

func compare(a, b any) (int, error) {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	}
	x, ok := numberOf(a)
	y, alike := numberOf(b)
	if !ok || !alike {
		return 0, fault("only two numbers or two texts have an order")
	}
	return x.compare(y), nil
}

func fallback(_ *scope, args []any) (any, error) {
	if truth(args[1]) {
		return args[1], nil
	}
	return args[0], nil
}

func hasMember(_ *scope, args []any) (any, error) {
	object, ok := args[0].(map[string]any)
	name, named := args[1].(string)
	if !named {
		return nil, fault("has wants a name")
	}
	if !ok {
		return false, nil
	}
	_, ok = object[name]
	return ok, nil
}

func index(s *scope, args []any) (any, error) {
	at := args[0]
	for _, key := range args[1:] {
		switch in := at.(type) {
		case []any:
			i, err := whole(key)
			if err != nil {
				return nil, err
			}
			if i < 0 || i >= len(in) {
				return nil, fault("index is beyond the end of the list")
			}
			at = in[i]
		case map[string]any:
			v, err := s.indexMember(in, key)
			if err != nil {
				return nil, err
			}
			at = v
		default:
			return nil, fault("index wants a list or an object")
		}
	}
	return at, nil
}

// A literal is a text that stands in a template, so that an error may tell it.
type literal string

func (s *scope) indexMember(in map[string]any, key any) (any, error) {
	text, isText := key.(string)
	name, isLiteral := key.(literal)
	if isLiteral {
		text = string(name)
	}
	if !isText && !isLiteral {
		return nil, fault("index wants a name for an object")
	}
	if v, ok := in[text]; ok {
		return v, nil
	}
	at, _ := s.pointer(in)
	if isLiteral {
		at += "/" + escape(text)
	}
	return nil, &missing{posted(at)}
}

// whole is a small whole number.
func whole(v any) (int, error) {
	if n, ok := numberOf(v); ok {
		if i, err := strconv.Atoi(string(n)); err == nil {
			return i, nil
		}
	}
	return 0, fault("a whole number is wanted")
}

func length(_ *scope, args []any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return 0, nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	case string:
		return utf8.RuneCountInString(v), nil
	}
	return nil, fault("len wants a list, an object or a text")
}

func join(s *scope, args []any) (any, error) {
	separator, err := textOf(args[0])
	if err != nil {
		return nil, err
	}
	list, ok := args[1].([]any)
	if !ok && args[1] != nil {
		return nil, fault("join wants a list")
	}
	var b strings.Builder
	for i, element := range list {
		if i > 0 {
			b.WriteString(separator)
		}
		t, err := textOf(element)
		if err != nil {
			return nil, err
		}
		if b.WriteString(t); b.Len() > maxOutput {
			return nil, errTooLarge
		}
	}
	return b.String(), s.spend(len(list) + b.Len()/64)
}

func truncate(_ *scope, args []any) (any, error) {
	n, err := whole(args[0])
	if err != nil || n < 1 {
		return nil, fault("truncate wants how many characters to keep, at least 1")
	}
	t, err := textOf(args[1])
	if err != nil || utf8.RuneCountInString(t) <= n {
		return t, err
	}
	kept := 0
	for i := range t {
		if kept++; kept == n {
			return t[:i] + "…", nil
		}
	}
	return t, nil
}
