package resource

import "github.com/luaccm/ccm/runtime/host/overlay"

// A Prediction is the expected success of a pending resource.
type Prediction struct {
	// Caveat is a remark for the report, such as the version that would be installed.
	Caveat string
	// Err is the error with which the actions are going to fail.
	Err error
	// Look is the lookup on which the prediction depends. If its name is "", there is none.
	Look overlay.Look
	// DependsOn lists paths whose change may change the prediction.
	DependsOn []string
	// Installs lists the names of further resources of the type that are installed with
	// it, such as dependencies.
	Installs []string
	// Removes lists the names of further resources of the type that are removed with it, such as
	// packages that depend on it. A removed resource has the zero state of the type.
	Removes []string
	// Files knows the files of everything that is installed by the predictions of one call; nil if nothing does.
	Files *FileLists
	// Lost is set if the removed things, which others may need, cannot be installed again.
	Lost bool
}

// A WrongUserError reports that actions fail because of the user of this process. They would not
// fail for another user.
type WrongUserError struct{ Text string }

// Error returns the text.
func (e *WrongUserError) Error() string { return e.Text }
