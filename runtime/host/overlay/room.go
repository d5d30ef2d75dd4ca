package overlay

import "sync"

// A Claim is the room that pending effects take of a volume. It is negative if they free some.
type Claim struct{ Bytes, Files int64 }

// A Volume is what has a limited room: a file system, or what one owner or group may have of it.
type Volume struct {
	Device uint64 // of the file system
	// Quota names the owner or group, such as "uid 1000"; "" for the file system itself.
	Quota string
}

// A RoomProposal is the room that the effects of one resource would take.
type RoomProposal struct {
	Claims map[Volume]Claim
	// FreesMore is set if the effects free an unknown amount besides.
	FreesMore bool
}

// room is what the pending resources of a plan take of file systems.
type room struct {
	mu       sync.Mutex
	proposed *RoomProposal
	claimed  RoomProposal
}

// ClaimedRoom returns what the pending resources of the plan take of a volume. It is not ok if one of
// them may free an unknown amount.
func (o *View) ClaimedRoom(of Volume) (c Claim, ok bool) {
	o.room.mu.Lock()
	defer o.room.mu.Unlock()
	return o.room.claimed.Claims[of], !o.room.claimed.FreesMore
}

// ProposeRoom notes what a resource would take. An earlier proposal is dropped.
func (o *View) ProposeRoom(p *RoomProposal) {
	o.room.mu.Lock()
	defer o.room.mu.Unlock()
	o.room.proposed = p
}

// ClaimRoom accepts the proposal, because the resource is pending. Complete means that it has no effects
// besides the known ones, which might free room.
func (o *View) ClaimRoom(complete bool) {
	if o == nil {
		return
	}
	o.room.mu.Lock()
	defer o.room.mu.Unlock()
	all := &o.room.claimed
	all.FreesMore = all.FreesMore || !complete
	if o.room.proposed == nil {
		return
	}
	if all.Claims == nil {
		all.Claims = make(map[Volume]Claim)
	}
	for of, c := range o.room.proposed.Claims {
		sum := all.Claims[of]
		all.Claims[of] = Claim{sum.Bytes + c.Bytes, sum.Files + c.Files}
	}
	all.FreesMore = all.FreesMore || o.room.proposed.FreesMore
	o.room.proposed = nil
}
