package resource

import (
	"context"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// The methods of [Spec] and [Provider] are required. This file lists the optional
// interfaces of specs, states and providers: what each promises, and what a type without
// it lacks. Each is tested for in one place. Package contract checks the promises that
// the engine relies on.

// Traits are what the engine and plans want to know of a spec.
type Traits struct {
	// VerifiesItself: Perform decides whether an action has succeeded, as the exit code of a command does. The engine
	// does not call Status again. Otherwise Decide has to return no actions after Perform.
	VerifiesItself bool
	// ActsAlways: there may be an action in every run, whatever the state of the machine. Otherwise an action after a
	// run means that the machine has drifted (ccm drift, "corrective").
	ActsAlways bool
	// DependsOnData: the desired state depends on the facts and data of a run, not only on the properties.
	DependsOnData bool
	// IsService: the actions start something that has to stay up, for SettleTime if that is not 0. Status is asked
	// again only when that time is over, once for consecutive resources of the type.
	IsService  bool
	SettleTime time.Duration
	// MayPrefetch: Status is cheap and runs no command, so that it may be called early, and its result discarded.
	// Otherwise Status is called in order.
	MayPrefetch bool
	// ProviderIgnoresSpec: the choice of the provider does not depend on the spec. Otherwise a provider is chosen for
	// each resource.
	ProviderIgnoresSpec bool
	// IsUncertain: the state may depend on anything, because commands of the user report it. A plan calls the resource
	// unknown once an earlier resource with incomplete effects is pending.
	IsUncertain bool
	// BringsFiles: files are installed that other resources may manage, as packages do.
	BringsFiles bool
	// FreshState returns the state of the type right after another resource has installed the thing. If it is nil, a plan
	// does not know the state then.
	FreshState func(v *host.View) any
	// EnsureIsVersion: [StateEnsure] returns the version of a thing that is there. Reports name it when the thing
	// appears or disappears.
	EnsureIsVersion bool
	// WrittenFile is the path of the file of which the whole content is set, "" for none. No [FileEditor] may edit it.
	WrittenFile string
	// SecretProperties are the properties that refer to secrets. Their own texts need not be secret; those that are
	// secret are found without it.
	SecretProperties []string
	// Command returns the one command that is run, which may change the paths among its arguments; nil for none.
	Command func() host.Cmd
	// Child returns the script or manifest that is applied; nil for none. In the catalog the child's resources come
	// before the applying resource, and after everything that it comes after. It fails when one of them fails.
	Child func() Child
}

// TraitsOf returns the traits of a spec.
func TraitsOf(spec any) Traits {
	if c, ok := spec.(Characterized); ok {
		return c.Traits()
	}
	return Traits{}
}

// Abilities of specs: properties and decisions.
type (
	// A Refresher can act on the change of a resource that it subscribes to. Refresh
	// returns d, perhaps with further actions. Without it, subscribe only orders.
	Refresher[S any] interface {
		Refresh(have S, d Decision) Decision
	}
	// A Characterized spec has traits. Without it, all are zero.
	Characterized interface{ Traits() Traits }
	// A PathResolver is a pointer to a spec with paths. ResolvePaths makes relative paths
	// absolute, given the directory of the script or manifest. Without it, paths have to be
	// absolute.
	PathResolver interface{ ResolvePaths(dir string) }
	// A CommonValidator validates the spec together with the common properties. ValidateWith is
	// called after Validate. Without it, the combination is not checked.
	CommonValidator interface{ ValidateWith(c Common) error }
	// An EnsureReporter returns the desired value of ensure for reports; "absent" or "purged" if
	// the thing has to be absent ([IsAbsent]). Without it, reports have none.
	EnsureReporter interface{ WantedEnsure() string }
)

// Abilities of specs: speed.
type (
	// A PathConfined spec manages one path. Looks means that Status depends only on the entry
	// at the path, not following a link, on what is below it, on the directories that lead to
	// it, and on users and groups; acts means that the actions change only that entry and make
	// no directories. Without it, every change discards prefetched states, and files are not
	// written in batches.
	PathConfined interface {
		Bounds() (path string, looks, acts bool)
	}
	// A FileEditor is a spec whose Perform only writes the file with the returned path, "" if it does not. Consecutive
	// edits of one file become one write. Without it, each edit is a write.
	//
	// EditedPart is the part of the file that is kept, such as the setting of a key, "" if it is unknown. Of two
	// resources of a type with the same file and part, the wanted texts must be the same: otherwise every run would
	// change the file twice.
	FileEditor interface {
		EditedFile() string
		EditedPart() (part, wanted string)
	}
)

// Abilities of specs: plans. Without them, a pending resource of the type makes more of the later
// resources unknown.
type (
	// An EffectBound spec has actions that change only the entries at some paths and, with
	// tree, below these, and make the directories above them.
	EffectBound interface {
		ConfinedTo() (paths []string, tree bool)
	}
	// A WholeSetter sets all of a thing, such as a file with its content, whatever was there. isNew means that the
	// thing is missing now: then content that is not known yet counts too. Without it, a plan takes it that an
	// earlier resource may leave nothing to do.
	WholeSetter interface{ SetsWhole(isNew bool) bool }
)

// Abilities of providers.
type (
	// A BulkProvider handles many resources at once. Without it, each is handled by itself.
	BulkProvider[D, S any] interface{ Bulk() Bulk[D, S] }
	// A Predictor predicts in a plan whether the actions are going to succeed. Predict changes
	// nothing. The caveat describes what it could not check, or is "". Without it, a plan assumes
	// success.
	Predictor[D any] interface {
		Predict(ctx context.Context, v *host.View, want D) (caveat string, err error)
	}
	// An Inspector reports the whole state; Status reports only the part that a decision needs.
	// Only the identifying properties of want are set. Without it, ccm status and ccm import use
	// Status.
	Inspector[D, S any] interface {
		Inspect(ctx context.Context, v *host.View, want D) (S, error)
	}
	// A Lister returns the names of existing resources that begin with prefix, in order. It is
	// quick, or gives up. Without it, the shell completes no names.
	Lister interface {
		Names(ctx context.Context, v *host.View, prefix string) ([]string, error)
	}
	// A HistoricStatus compares the machine with the desired state of an earlier run, given its
	// digest, without reading sources and templates again. For the zero digest it may return an
	// [UnknownError]. Otherwise it is like Status. Without it, the properties are all of the
	// desired state.
	HistoricStatus[D, S any] interface {
		Recall(ctx context.Context, v *host.View, want D, desired DesiredDigest) (S, error)
	}
	// A SelfDescriber describes how the provider does its work, and names the commands that it
	// runs. The contract suite fails on any other command. Without it, the reference does not
	// describe the provider.
	SelfDescriber interface{ Describe() Description }
)

// Abilities of states.
type (
	// A StateEnsure returns the state as a value of ensure. Without it, reports have none.
	StateEnsure interface{ CurrentEnsure() string }
	// A Describer describes the state as a struct with json tags, without the parts that are
	// unknown. Without it, ccm status prints only ensure.
	Describer interface {
		Describe(name, provider string) any
	}
	// An Importer returns properties whose desired state is this state. Without it, ccm import
	// refuses the type.
	Importer[D any] interface {
		Import(im Import) (D, error)
	}
	// A DesiredDigester has the digest of a part of the desired state that the spec only refers
	// to, such as a source. A digest that differs from that of an earlier run means that the user
	// has changed the desired state. Without it, only changed properties mean that.
	DesiredDigester interface{ DesiredDigest() DesiredDigest }
	// A DesiredTexter is a spec whose states may lack DesiredDigest.Text, because it takes long to
	// compute. DesiredText computes it; "" if the state does not depend on it. Without it, the
	// state has the whole digest.
	DesiredTexter[S any] interface {
		DesiredText(ctx context.Context, v *host.View, have S) (string, error)
	}
)

// IsAbsent reports whether a value of ensure means that a thing is not there.
func IsAbsent(ensure string) bool { return ensure == "absent" || ensure == "purged" }
