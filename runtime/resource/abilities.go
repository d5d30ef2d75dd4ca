package resource

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// A spec, a state or a provider has to have the methods of [Spec] and [Provider], and no
// more. Here is all that they may have besides: each an interface of few methods that is
// tested for in one place, with what it promises and what a type without it misses. The
// contract suite (package contract) holds types to the promises that the engine relies on.

// Abilities of specs: what they are and how they are decided about.
type (
	// Refreshable is implemented by specs that can act on a change elsewhere.
	// Refresh returns the decision, given that something subscribed to has
	// changed: d with what is to be done besides, or d itself. Without it, subscribe
	// only orders.
	Refreshable[S any] interface {
		Refresh(have S, d Decision) Decision
	}
	// SelfVerifying is implemented by specs whose Perform judges the outcome itself, as
	// a command is judged by its exit code. The engine does not look again. Without it,
	// Status has to find nothing left to do after the actions.
	SelfVerifying interface{ VerifiesItself() bool }
	// Located is implemented by pointers to specs that name files of the user. Locate makes
	// relative paths absolute, given the directory of the script or manifest. Without it,
	// paths have to be absolute.
	Located interface{ Locate(dir string) }
	// ValidatedWith is implemented by specs whose validity depends on properties
	// that every type has. ValidateWith is called after Validate. Without it, these
	// properties are not looked at.
	ValidatedWith interface{ ValidateWith(c Common) error }
	// Repeating is implemented by specs that may ask for an action in every run,
	// whatever the state of the machine. Without it, something that is to be done after a
	// run has drifted, and whoever did that is to blame (ccm drift, "corrective").
	Repeating interface{ ActsAlways() bool }
	// DataDependent is implemented by specs whose wish depends on the facts and data of
	// a run, besides their properties. Without it, the wish is the properties.
	DataDependent interface{ DependsOnData() bool }
	// Wanted is implemented by specs that can say which ensure value is asked
	// for, for reports. Without it, reports say none.
	Wanted interface{ WantedEnsure() string }
	// Delayed is implemented by specs whose actions have to hold for a while. The
	// Status that follows them waits for as long, and less for what was done a while
	// ago: resources of such a type that follow one another are waited for together.
	// Without it, what holds right after the actions counts.
	Delayed interface{ SettleTime() time.Duration }
	// Applying is implemented by specs that apply a script or manifest. What the
	// child declares is in the catalog like anything else: it comes before the
	// resource that applies it, and after all that this resource comes after. If a part
	// of the child fails and FailsWithParts says so, the resource has failed as well; it
	// is not skipped.
	Applying interface {
		Child() Child
		FailsWithParts() bool
	}
)

// Abilities of specs: how fast they are looked at and acted upon.
type (
	// Prefetchable is implemented by specs whose Status is cheap and runs no command, so
	// that it may be called before the resource's turn, and in vain. Without it, Status
	// is called when the turn has come.
	Prefetchable interface{ MayPrefetch() bool }
	// PathConfined is implemented by specs that are about one path. Looks says that Status
	// depends on nothing that changes but what stands there, not following a link,
	// and on the directories on the way; acts, that the actions change nothing else
	// than what stands there, and make no directories. Without it, each change makes
	// what was seen ahead void, and no files are written together.
	PathConfined interface {
		Bounds() (path string, looks, acts bool)
	}
	// SpecIndependentProvider is implemented by specs of which each has the provider that any other of
	// their type has: which one suits does not depend on the spec. Without it, every
	// resource chooses for itself.
	SpecIndependentProvider interface{ ProviderIgnoresSpec() }
	// Editing is implemented by specs whose Perform writes one file, whose path it
	// returns, and does nothing else. Edits of one file that follow one another are
	// one write. Without it, each is a write.
	Editing interface{ EditedFile() string }
)

// Abilities of specs: what a plan knows of them. Without them, what comes after a pending
// resource of the type is unknown sooner.
type (
	// Uncertain is implemented by specs whose state may hang on anything, because
	// they ask commands of the user. If it says so, a plan reports unknown when
	// anything is pending of which it does not know all effects.
	Uncertain interface{ UncertainAfterPending() bool }
	// Confined is implemented by specs whose actions change nothing but what stands
	// at some paths and, with tree, below these, and make the directories above them.
	Confined interface {
		ConfinedTo() (paths []string, tree bool)
	}
	// Bringing is implemented by specs that bring files which other resources may
	// manage, as packages do.
	Bringing interface{ BringsFiles() }
	// Commanding is implemented by specs that run one command. What it names is what
	// it may change.
	Commanding interface{ PlannedCommand() host.Cmd }
	// Beginning is implemented by specs that can say what state a thing has that
	// something else has just brought.
	Beginning[S any] interface{ Fresh() S }
)

// Abilities of providers.
type (
	// Batch is implemented by providers that can look at many resources at once. It
	// answers for wants[i] with states[i] or errs[i]. Without it, each is asked about by
	// itself.
	Batch[P, S any] interface {
		StatusAll(ctx context.Context, v *host.View, wants []P) (states []S, errs []error)
	}
	// Foresighted is implemented by providers that can tell in a plan whether what
	// is to be done is going to succeed. Foresee changes nothing. The caveat is what
	// it could not look at, or "". Without it, a plan takes for granted that it does.
	Foresighted[P any] interface {
		Foresee(ctx context.Context, v *host.View, want P) (caveat string, err error)
	}
	// Foreseeing is Foresighted for providers that can tell the prospects of many
	// resources at once, such as what repositories have of many packages. ForeseeAll
	// answers for wants[i] with list[i]. It changes nothing, and what it says does not
	// depend on what a plan assumes.
	Foreseeing[P any] interface {
		ForeseeAll(ctx context.Context, v *host.View, wants []P) (list []Prospect)
	}
	// Inspector is implemented by providers whose Status leaves out what a
	// decision can do without. Inspect reports the present state in full. Nothing
	// is wanted: of want only what says which thing is meant need be given. Without it,
	// Status is all that ccm status and ccm import know.
	Inspector[P, S any] interface {
		Inspect(ctx context.Context, v *host.View, want P) (S, error)
	}
	// Lister is implemented by providers that know names of resources. Names
	// returns those that begin with prefix, in order. It is quick, or gives up. Without
	// it, names are not completed.
	Lister interface {
		Names(ctx context.Context, v *host.View, prefix string) ([]string, error)
	}
	// HistoricStatus is implemented by providers that can compare the machine with what
	// was wanted at an earlier time, when a state told the wish (Wishing), whatever
	// sources and templates hold now. It is Status in all else. Without a wish it may
	// return an [UnknownError]. Without the ability, the properties are all that is wanted.
	HistoricStatus[P, S any] interface {
		Recall(ctx context.Context, v *host.View, want P, wish DesiredDigest) (S, error)
	}
)

// Abilities of states.
type (
	// StateEnsure is implemented by states that can say in the words of ensure
	// what they are. Without it, reports leave ensure out.
	StateEnsure interface{ CurrentEnsure() string }
	// Described is implemented by states that say what they hold as a struct with
	// json tags, for people and programs. What is not known is left out. Without it,
	// ccm status says ensure alone.
	Described interface {
		Describe(name, provider string) any
	}
	// Importable is implemented by states that properties can be made of: those
	// for which the state is as wanted. Without it, ccm import refuses the type.
	Importable[P any] interface {
		Import(im Import) (P, error)
	}
	// DesiredDigester is implemented by states that hold a part of what is wanted which the
	// spec only points to, such as the digest of a source. A wish that differs from
	// that of an earlier run means that something else is wanted now. Without it, the
	// properties tell that.
	DesiredDigester interface{ DesiredDigest() DesiredDigest }
	// LazyDesired is implemented by specs whose states may leave the text of a wish
	// (Told.Text) open, because it takes long to tell. WishText tells it; "" if it
	// makes no difference to this state. Without it, the state holds the whole wish.
	LazyDesired[S any] interface {
		DesiredText(ctx context.Context, v *host.View, have S) (string, error)
	}
)
