package fleet_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/identity"
)

// nodePermissions has the permissions of the node web1 in the account, each with the attempts of attemptsOfNode that
// use it.
var nodePermissions = map[string][]string{
	"$KV.CCM_NODES.web1.>":                                     {"write own facts", "write own state"},
	"$KV.CCM_PRESENCE.web1":                                    {"write own heartbeat"},
	"ccm.v1.event.prod.web1":                                   {"write own event"},
	"choria.ccm.registration.v1.*.*.*.*.{{tag(reg)}}":          {"register an own service", "register an own service, second port", "register an own service, fourth port"},
	"$JS.API.DIRECT.GET.KV_CCM_CONTROL.$KV.CCM_CONTROL.prod.>": {"read the release of its environment", "read the signers of its environment"},
	"$JS.API.DIRECT.GET.CCM_JOBS.ccm.v1.job.prod":              {"read the last job of its environment"},
	"$JS.API.DIRECT.GET.CCM_JOBS.ccm.v1.job.prod.web1":         {"read its own last job"},
	"$JS.API.DIRECT.GET.OBJ_CCM_SITES_prod":                    {"read a bundle of its environment"},
	"$JS.API.DIRECT.GET.OBJ_CCM_SITES_prod.>":                  {"read what a bundle is"},
	"$JS.API.DIRECT.GET.KV_CCM_NODES.$KV.CCM_NODES.web1.>":     {"read its own facts"},
	"$JS.API.DIRECT.GET.KV_CCM_PRESENCE.$KV.CCM_PRESENCE.web1": {"read its own heartbeat"},
	"$JS.API.DIRECT.GET.CCM_ENROLLED.ccm.v1.enrolled.UKEY":     {"read its own new credentials"},
	"$JS.API.DIRECT.GET.REGISTRATION":                          {"read the registry, as init allowed"},
	"$JS.API.DIRECT.GET.KV_CONF.>":                             {"read a bucket of data, as init allowed"},
	"subscribe ccm.v1.control.prod.>":                          {"listen to changes of its environment"},
	"subscribe ccm.v1.do.prod":                                 {"listen to jobs of its environment"},
	"subscribe ccm.v1.do.prod.web1":                            {"listen to its own jobs"},
	"subscribe _INBOX_web1.>":                                  {"listen to its own answers"},
}

// Each permission of nodes in the account is in the table and is tried. A new permission needs an attempt that uses
// it, and one beside it that is refused.
func TestEachPermissionIsTried(t *testing.T) {
	l := sharedLab(t)
	token, err := l.directory(t).AccountToken()
	require.NoError(t, err)
	account, err := jwt.DecodeAccountClaims(token)
	require.NoError(t, err)
	filled := strings.NewReplacer("{{name()}}", "web1", "{{tag(env)}}", "prod", "{{subject()}}", "UKEY")
	var have []string
	for _, scope := range account.SigningKeys {
		s, ok := scope.(*jwt.UserScope)
		if !ok || s.Role != string(identity.Node) {
			continue
		}
		for _, line := range s.Template.Pub.Allow {
			have = append(have, filled.Replace(line))
		}
		for _, line := range s.Template.Sub.Allow {
			have = append(have, "subscribe "+filled.Replace(line))
		}
		require.Empty(t, s.Template.Pub.Deny)
	}
	slices.Sort(have)
	require.Equal(t, slices.Sorted(maps.Keys(nodePermissions)), slices.Compact(have))
	allowed, named := map[string]bool{}, map[string]bool{}
	for _, a := range attemptsOfNode("web1", "web2", "UKEY") {
		if a.allowed {
			allowed[a.what] = true
		}
	}
	for _, names := range nodePermissions {
		for _, name := range names {
			named[name] = true
		}
	}
	require.Equal(t, allowed, named, "what is allowed, and what the table names")
}
