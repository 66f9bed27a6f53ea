package lists

import "errors"

// ErrNoList: there is certainly no such list. Only a fresh look at a share that is
// proven to be the right one gives it; any doubt is another error.
var ErrNoList = errors.New("no such list")

// ErrTrouble: something outside the message could not be asked (DNS, another list).
// The post is not to blame: it waits, and the question is put again.
var ErrTrouble = errors.New("could not be found out now")
