package signed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Release describes which bundle the nodes of an environment run, and in which stages it is rolled
// out.
type Release struct {
	Header
	// Version is higher than that of any earlier release of the environment.
	Version int64 `json:"version"`
	// Bundle is the digest of the bundle, as sha256: and hexadecimal digits.
	Bundle string `json:"bundle"`
	// Previous is the version of the previous release, 0 for the first.
	Previous int64 `json:"previous"`
	// PreviousBundle is the bundle of the previous release, for a rollback; "" for the first.
	PreviousBundle string `json:"previous_bundle,omitempty"`
	// Stages are conditions, or percentages of all nodes. The last is 100%.
	Stages []string `json:"stages"`
	// Soak is the time for which a stage is watched after all its nodes have reported.
	Soak Duration `json:"soak"`
	// MaxFailed is how many nodes may fail, in each stage and altogether: a number or a
	// percentage.
	MaxFailed Share `json:"max_failed"`
	// MaxSilent is how many nodes may be silent: a number or a percentage.
	MaxSilent Share `json:"max_silent"`
	// Spread is the time over which nodes of a stage begin.
	Spread Duration `json:"spread"`
	// Reason is the reason in words.
	Reason string `json:"reason,omitempty"`
}

// A Rollout is the progress of a release. Stages up to Stage may begin with it.
type Rollout struct {
	Header
	// Version is higher than that of any earlier rollout of the environment.
	Version int64        `json:"version"`
	Release int64        `json:"release"`
	Stage   int          `json:"stage"`
	State   RolloutState `json:"state"`
	// Since is when the stage began, and SettleTime when all of its nodes had reported; zero
	// before.
	Since      time.Time `json:"since"`
	SettleTime time.Time `json:"settled,omitzero"`
	By         string    `json:"by,omitempty"`
	Reason     string    `json:"why,omitempty"`
}

// A RolloutState describes whether nodes may begin with a release.
type RolloutState string

// The states of a rollout.
const (
	Rolling RolloutState = "rolling"
	Paused  RolloutState = "paused"  // by somebody
	Stopped RolloutState = "stopped" // because of failures
	Aborted RolloutState = "aborted" // for good
	Done    RolloutState = "done"
)

// Signers name the trusted signers from now on.
type Signers struct {
	Header
	Version int64 `json:"version"`
	// Threshold is the number of signers who must have signed a release.
	Threshold int `json:"threshold"`
	// Signers is a text in the format of allowed_signers of ssh-keygen(1).
	Signers string `json:"signers"`
}

// maxText is the length limit, in bytes, of free texts.
const maxText = 1000

// Kind implements Document.
func (*Release) Kind() Kind { return KindRelease }

// Kind implements Document.
func (*Rollout) Kind() Kind { return KindRollout }

// Kind implements Document.
func (*Signers) Kind() Kind { return KindSigners }

// ID returns the unique ID of a release across environments.
func (r *Release) ID() string { return r.Environment + ":" + strconv.FormatInt(r.Version, 10) }

// Digest returns the digest of the bundle, in hexadecimal.
func (r *Release) Digest() string { return HexDigest(r.Bundle) }

// HexDigest returns the digits of a digest.
func HexDigest(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// Begins returns an error if a node must not begin with the release at a time. A release in use
// stays in use.
func (r *Release) Begins(now time.Time) error {
	if now.After(r.Expires.Add(Skew)) {
		return refuse(Expired, "the release expired at %s", r.Expires.Format(time.RFC3339))
	}
	return nil
}

// ErrLastStage is the mistake of stages that do not end with all nodes.
var ErrLastStage error = diag.Expected("100%% as the last stage")

// Validate implements Document.
func (r *Release) Validate() error {
	if err := checkDigest(r.Bundle); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if r.PreviousBundle != "" {
		if err := checkDigest(r.PreviousBundle); err != nil {
			return fmt.Errorf("previous_bundle: %w", err)
		}
	}
	switch {
	case r.Version <= 0 || r.Previous < 0 || r.Previous >= r.Version:
		return fmt.Errorf("version: %w", diag.Expected("a number above 0 and above that of the previous release"))
	case len(r.Stages) == 0 || len(r.Stages) > 32:
		return fmt.Errorf("stages: %w", diag.MustBe("1 to 32"))
	case r.Stages[len(r.Stages)-1] != "100%":
		return fmt.Errorf("stages: %w", ErrLastStage)
	case len(r.Reason) > maxText:
		return fmt.Errorf("reason: %w", diag.Exceeds("", "%d bytes", maxText))
	}
	last := 0.0
	for _, s := range r.Stages {
		p, isPercent, err := ParseStage(s)
		if err != nil {
			return fmt.Errorf("stages: %w", err)
		}
		if isPercent {
			if p <= last {
				return fmt.Errorf("stages: %s %w", s, diag.MustBe("higher than the stage before it"))
			}
			last = p
		}
	}
	return nil
}

// ParseStage reads one stage: a percentage above 0, or a condition.
func ParseStage(text string) (percent float64, isPercent bool, err error) {
	digits, ok := strings.CutSuffix(text, "%")
	if !ok {
		if strings.TrimSpace(text) == "" || len(text) > maxText {
			return 0, false, diag.Expected("a percentage or a condition")
		}
		return 0, false, nil
	}
	p, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(p > 0 && p <= 100) || strings.Trim(digits, "0123456789.") != "" {
		return 0, false, diag.Expected("a percentage above 0%% and at most 100%%").Got("%q", text)
	}
	return p, true, nil
}

// InPercent reports whether a node is among the first percent of a release. Each release begins
// with other nodes. A node that is in stays in when the percentage grows.
func (r *Release) InPercent(node string, percent float64) bool {
	sum := sha256.Sum256([]byte(r.ID() + "\x00" + node))
	return float64(binary.BigEndian.Uint64(sum[:8])%10000) < 100*percent
}

// StageOf returns the first stage of a node. Holds evaluates a condition for the node; on an
// error the node does not meet it.
func (r *Release) StageOf(node string, holds func(condition string) (bool, error)) int {
	for i, s := range r.Stages {
		p, isPercent, err := ParseStage(s)
		if err != nil {
			continue
		}
		if !isPercent {
			if ok, err := holds(s); ok && err == nil {
				return i
			}
		} else if r.InPercent(node, p) {
			return i
		}
	}
	return len(r.Stages) - 1
}

// Validate implements Document.
func (r *Rollout) Validate() error {
	switch r.State {
	case Rolling, Paused, Stopped, Aborted, Done:
	default:
		return fmt.Errorf("state: %w", diag.Expected("rolling, paused, stopped, aborted or done").Got("%q", r.State))
	}
	switch {
	case r.Version <= 0 || r.Release <= 0:
		return fmt.Errorf("version, release: %w", diag.Expected("numbers above 0"))
	case r.Stage < 0 || r.Stage >= 32:
		return fmt.Errorf("stage: %w", diag.Expected("the number of a stage"))
	case len(r.By) > maxText || len(r.Reason) > maxText:
		return fmt.Errorf("by, reason: %w", diag.Exceeds("", "%d bytes", maxText))
	}
	return nil
}

// Validate implements Document.
func (s *Signers) Validate() error {
	if s.Version <= 0 || s.Threshold < 1 || s.Threshold > maxSignatures {
		return fmt.Errorf("version, threshold: %w", diag.Expected("numbers from 1, the threshold at most %d", maxSignatures))
	}
	return nil
}

// Newer returns an error if a version is not above the highest one seen. The same document may be
// read again, which callers recognize by its digest before.
func Newer(version, highest int64) error {
	if version <= highest {
		return refuse(RollbackRefused, "version %d is not newer than version %d, which was already seen", version, highest)
	}
	return nil
}

// checkDigest returns an error if a text is not the digest of a bundle.
func checkDigest(text string) error {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if sum, err := hex.DecodeString(digits); !ok || err != nil || len(sum) != sha256.Size || digits != strings.ToLower(digits) {
		return diag.Expected("sha256: and 64 hexadecimal digits in lower case").Got("%q", text)
	}
	return nil
}
