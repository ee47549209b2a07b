package group

// Halves does a list of items at once, and in halves where that is refused, so that one bad item
// costs no other. bad says whether an error may be the fault of an item: where it is not, or where
// an item is refused alone, lone gets each with the error.
func Halves[T any](items []T, do func([]T) error, bad func(error) bool, lone func(T, error)) {
	if len(items) == 0 {
		return
	}
	err := do(items)
	switch half := len(items) / 2; {
	case err == nil:
	case half > 0 && bad(err):
		Halves(items[:half], do, bad, lone)
		Halves(items[half:], do, bad, lone)
	default:
		for _, item := range items {
			lone(item, err)
		}
	}
}
