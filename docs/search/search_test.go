package search

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFind: what somebody types, and the section that is the first answer.
func TestFind(t *testing.T) {
	ix := newIndex()
	for _, c := range [][2]string{
		{"github actions", "recipes/pipelines#run-in-github-actions"},
		{"gitlab ci", "ci#gitlab"},
		{"vagrant", "recipes/pipelines#run-in-vagrant"},
		{"packer", "recipes/pipelines#run-in-packer"},
		{"cloud-init", "recipes/pipelines#run-at-the-first-boot-with-cloud-init"},
		{"docker", "recipes/pipelines#run-in-a-dockerfile-container-image"},
		{"container", "recipes/software#run-a-container-with-podman-quadlet"},
		{"terraform", "recipes/pipelines#run-from-terraform"},
		{"alert", "recipes/running#send-an-alert-when-a-run-fails"},
		{"slack", "recipes/running#send-an-alert-to-slack-or-another-webhook"},
		{"offline", "recipes/running#run-without-a-network-offline-air-gap"},
		{"air gap", "recipes/running#run-without-a-network-offline-air-gap"},
		{"proxy", "recipes/running#run-behind-a-proxy"},
		{"rest api", "recipes/basics#call-a-rest-api-once"},
		{"variables per host", "recipes/basics#set-a-different-value-for-each-host"},
		{"host_vars", "recipes/basics#set-a-different-value-for-each-host"},
		{"restart service when file changes", "recipes/basics#restart-a-service-when-either-of-two-files-changes"},
		{"loop over users", "recipes/basics#loop-over-users"},
		{"run only on web hosts", "recipes/basics#run-only-on-web-hosts"},
		{"wait for database", "recipes/basics#wait-for-a-database"},
		{"encrypt a password", "recipes/basics#encrypt-a-password"},
		{"run every 30 minutes", "recipes/running#run-every-30-minutes"},
		{"dry run", "recipes/running#preview-a-run-dry-run"},
		{"check mode", "recipes/running#preview-a-run-dry-run"},
		{"ask before restarting", "recipes/running#ask-before-a-service-restarts"},
		{"what changed a file", "recipes/changes#find-out-what-changed-a-file"},
		{"rolling update", "recipes/machines#update-one-host-at-a-time-and-stop-at-the-first-failure"},
		{"inventory", "recipes/machines#use-an-ansible-inventory"},
		{"migrate an ansible role", "recipes/sites#migrate-one-role-from-ansible"},
		{"test a role", "recipes/sites#test-a-role"},
		{"share a module", "recipes/sites#share-a-module-between-sites"},
		{"letsencrypt", "recipes/software#get-a-tls-certificate-by-acme-lets-encrypt"},
		{"blue green", "recipes/software#switch-between-blue-and-green"},
		{"postgresql", "recipes/software#create-postgresql-roles-and-databases"},
		{"quadlet", "recipes/software#run-a-container-with-podman-quadlet"},
		{"dotfiles", "recipes/software#keep-dotfiles"},
		// titles before text
		{"file", "reference/types/file"},
		{"service", "reference/types/service"},
		{"facts", "facts"},
		{"secrets", "secrets"},
		{"puppet", "coming-from-puppet"},
		{"how do I install ccm", "install"},
		// words of others
		{"cron", "reference/types/cron"},
		{"lineinfile", "reference/types/line"},
		{"symlink", "reference/types/link"},
		{"galaxy", "recipes/sites#share-a-module-between-sites"},
		{"r10k", "recipes/sites#share-a-module-between-sites"},
		{"ansible-pull", "agent"},
		{"ansible-playbook", "reference/commands/run"},
		{"many servers at once", "ssh#many-hosts"},
		{"ad-hoc command", "reference/commands/ensure"},
		{"file_line", "reference/types/line"},
		{"hiera", "recipes/basics#set-a-different-value-for-each-host"},
		{"idempotent", "testing-sites#on-a-real-machine"},
		{"exit code", "reference/exit-codes"},
		{"who changed this file", "recipes/changes#find-out-what-changed-a-file"},
		{"add a user with an ssh key", "recipes/basics#loop-over-users"},
		{"variables per group", "recipes/basics#set-a-different-value-for-each-host"},
		{"run something only when a file changed", "recipes/basics#run-a-command-only-when-a-file-changes"},
		// words that only the pages for users of other tools have, or that mean something else here
		{"register", "lua#handles"},
		{"delegate_to", "recipes/machines#roll-out-to-three-hosts-by-ssh"},
		{"run_once", "recipes/basics#run-a-migration-once"},
		{"changed_when", "commands#success-and-change"},
		{"notify", "reference/properties#notify"},
		{"handlers", "recipes/basics#restart-a-service-when-either-of-two-files-changes"},
		{"become", "ssh#root"},
		{"when", "lua-for-yaml#conditions"},
		{"loop", "recipes/basics#loop-over-users"},
		{"with_items", "recipes/basics#loop-over-users"},
		{"block/rescue", "order#when-something-fails"},
		{"rescue", "order#when-something-fails"},
		{"tags", "order#tags"},
		{"vault", "secrets"},
		{"gather_facts", "facts"},
		{"facts gather", "facts"},
		{"exported resources", "health-checks#register-services"},
		{"defined types", "recipes/sites#write-a-module-role"},
		{"augeas", "recipes/basics#change-one-line-or-one-setting-of-a-file"},
		// stems and misspellings
		{"drifting", "reference/commands/drift"},
		{"vagarnt", "recipes/pipelines#run-in-vagrant"},
		{"GitHub Actoins", "recipes/pipelines#run-in-github-actions"},
		{"templets", "templates"},
	} {
		found := ix.find(c[0])
		if assert.NotEmpty(t, found.Sections, c[0]) {
			assert.Equal(t, c[1], at(found.Sections[0]), c[0])
		}
	}
}

// at names a section as a link does; the first of a page is the page.
func at(r Result) string {
	if r.Level == 1 {
		return r.Page
	}
	return r.Page + "#" + r.Anchor
}

// TestFindCorrects: the misspelled word is named. Of words that no section has all, most are better than none.
func TestFindCorrects(t *testing.T) {
	ix := newIndex()
	require.Equal(t, map[string]string{"vagarnt": "vagrant"}, ix.find("vagarnt").Corrected)
	require.Empty(t, ix.find("templates").Corrected)
	found := ix.find("vagrant quorum selinux")
	require.True(t, found.Partial)
	require.NotEmpty(t, found.Sections)
	require.False(t, ix.find("vagrant").Partial)
	for _, query := range []string{"", " ", "zzqx", "%", "the"} {
		require.NotPanics(t, func() { ix.find(query) })
	}
	require.Empty(t, ix.find("zzqx").Sections)
}

// TestSynonyms: each row has at least two phrases and none twice, and some word of it is in the documentation.
func TestSynonyms(t *testing.T) {
	ix := newIndex()
	for _, group := range synonyms {
		require.Greater(t, len(group), 1)
		sorted := slices.Compact(slices.Sorted(slices.Values(group)))
		require.Len(t, sorted, len(group), group)
		require.True(t, slices.ContainsFunc(group, func(phrase string) bool {
			return slices.ContainsFunc(ix.sections, func(s section) bool { return s.score(ix.text(phrase)) > 0 })
		}), "no page has any of %q", group)
	}
}

// TestAnswers: the sections that answer words of other tools exist. The row for users of the tool is among the next.
func TestAnswers(t *testing.T) {
	ix := newIndex()
	for place, words := range answers {
		require.True(t, slices.ContainsFunc(ix.sections, func(s section) bool { return at(s.Result) == place && s.answers.words == ix.text(words).words }), place)
	}
	for query, page := range map[string]string{"delegate_to": "coming-from-ansible", "changed_when": "coming-from-ansible", "exported resources": "coming-from-puppet"} {
		require.Equal(t, page, ix.find(query).Sections[1].Page, query)
	}
}
