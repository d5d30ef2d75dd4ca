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
	// Command returns the one command that is run, which may change the paths among its arguments; nil for none.
	Command func() host.Cmd
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
	// A RefreshDropper is the state of a machine that is not running. DroppedRefresh returns the
	// reason why a refresh does nothing there, "" if it acts.
	RefreshDropper interface{ DroppedRefresh() string }
	// An Applier applies a script or manifest, the child. In the catalog the child's resources
	// come before the applying resource, and after everything that the applying resource comes
	// after. If FailsWithParts is true, the resource fails when one of them fails; otherwise it is
	// skipped.
	Applier interface {
		Child() Child
		FailsWithParts() bool
	}
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
	// A SecretSource names properties that refer to secrets. Their own texts need not be secret.
	// Without it, only texts are checked for secrets.
	SecretSource interface{ SecretProperties() []string }
	// A BulkPerformer is a spec D whose provider P can perform one action for several resources in
	// one transaction, faster than one after the other. Together reports whether the same actions
	// of two specs may be put into one transaction. PerformAll may fail with some of them done:
	// the engine looks at each again, and performs the rest one by one. Without it, each action is
	// performed by itself.
	BulkPerformer[D, P any] interface {
		Together(other D) bool
		PerformAll(ctx context.Context, h *host.Host, provider P, wants []D, a Action) error
	}
	// A FileEditor is a spec whose Perform only writes the file with the returned path.
	// Consecutive edits of one file become one write. Without it, each edit is a write.
	FileEditor interface{ EditedFile() string }
	// A PartEditor is a FileEditor that keeps one part of the file, such as the setting of a key. Of two resources of
	// a type with the same file and part, the wanted texts must be the same: otherwise every run would change the
	// file twice. part is "" if it is unknown. Without it, such resources are not found.
	PartEditor interface{ EditedPart() (part, wanted string) }
	// A WholeFile is a spec that sets the whole content of the file with the returned path, "" for
	// none. No FileEditor may edit that file. Without it, edits are allowed.
	WholeFile interface{ WrittenFile() string }
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
	// An InitialState returns the state of a thing right after another resource has
	// installed it.
	InitialState[S any] interface{ Fresh() S }
)

// Abilities of providers.
type (
	// A BulkStatus reports the states of many resources at once: states[i] or errs[i] for
	// wants[i]. Without it, Status is called for each.
	BulkStatus[D, S any] interface {
		StatusAll(ctx context.Context, v *host.View, wants []D) (states []S, errs []error)
	}
	// A Predictor predicts in a plan whether the actions are going to succeed. Predict changes
	// nothing. The caveat describes what it could not check, or is "". Without it, a plan assumes
	// success.
	Predictor[D any] interface {
		Predict(ctx context.Context, v *host.View, want D) (caveat string, err error)
	}
	// A BulkPredictor predicts the success of many resources at once, such as whether repositories
	// have the packages: list[i] for wants[i]. It changes nothing. Its answers do not depend on
	// effects that a plan assumes.
	BulkPredictor[D any] interface {
		PredictAll(ctx context.Context, v *host.View, wants []D) (list []Prediction)
	}
	// A Companions lists all existing things of the type, some of which come and go with others,
	// such as packages with their dependencies. CompanionText names those that came or went when
	// the wants were acted on together, "" if there are none. Without it, reports show the
	// resources alone.
	Companions[D any] interface {
		Inventory(ctx context.Context, v *host.View) (Inventory, error)
		CompanionText(wants []D, came, went []string) string
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
	// A VersionReporter is a state with a version, "" if the thing is absent. Reports name the
	// version when the thing appears or disappears. Without it, they do not.
	VersionReporter interface{ CurrentVersion() string }
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
