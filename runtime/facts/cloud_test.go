package facts

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCloud(t *testing.T) {
	const dmi = "/sys/class/dmi/id/"
	for want, files := range map[string]map[string]string{
		"aws":          {dmi + "sys_vendor": "Amazon EC2\n"},
		"gce":          {dmi + "sys_vendor": "Google\n", dmi + "product_name": "Google Compute Engine\n"},
		"azure":        {dmi + "sys_vendor": "Microsoft Corporation\n", dmi + "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n"},
		"hetzner":      {dmi + "sys_vendor": "Hetzner\n"},
		"digitalocean": {dmi + "sys_vendor": "DigitalOcean\n"},
		"oracle":       {dmi + "sys_vendor": "QEMU\n", dmi + "chassis_asset_tag": "OracleCloud.com\n"},
		"openstack":    {dmi + "sys_vendor": "OpenStack Foundation\n", dmi + "product_name": "OpenStack Nova\n"},
		"none":         {dmi + "sys_vendor": "Microsoft Corporation\n", dmi + "product_name": "Virtual Machine\n"}, // Hyper-V
	} {
		require.Equal(t, want, get(t, rootWith(t, map[string]string{"/proc/uptime": "1.0 1.0\n"}, files), "cloud.provider"))
	}
	xen := rootWith(t, map[string]string{"/proc/uptime": "1.0 1.0\n", dmi + "sys_vendor": "Xen\n", dmi + "bios_version": "4.11.amazon\n"})
	require.Equal(t, "aws", get(t, xen, "cloud.provider"))
	requireAbsent(t, rootWith(t, map[string]string{"/proc/uptime": "1.0 1.0\n"}), "instance")
}

// serve returns the metadata service of a cloud at a server that has texts by path. Without header it answers 401.
func serve(t *testing.T, provider, header, value string, texts map[string]string) metadataService {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodPut && q.URL.Path == "/latest/api/token" && q.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "" {
			_, _ = w.Write([]byte("secret"))
			return
		}
		if header != "" && q.Header.Get(header) != value {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		text, ok := texts[q.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	s := metadataServices[provider]
	s.base = server.URL
	return s
}

func TestInstance(t *testing.T) {
	for provider, c := range map[string]struct {
		header, value string
		texts         map[string]string
		want          map[string]any
	}{
		"aws": {"X-aws-ec2-metadata-token", "secret", map[string]string{
			"/latest/meta-data/instance-id": "i-0123", "/latest/meta-data/instance-type": "m5.large",
			"/latest/meta-data/placement/region": "eu-west-1", "/latest/meta-data/placement/availability-zone": "eu-west-1a",
			"/latest/meta-data/tags/instance/": "Name\na b/c", "/latest/meta-data/tags/instance/Name": "web1", "/latest/meta-data/tags/instance/a%20b%2Fc": "d",
		}, map[string]any{"id": "i-0123", "type": "m5.large", "region": "eu-west-1", "zone": "eu-west-1a", "tags": map[string]any{"Name": "web1", "a b/c": "d"}}},
		"gce": {"Metadata-Flavor", "Google", map[string]string{"/computeMetadata/v1/instance/?recursive=true": `{"id": 1234567890123456789,
			"machineType": "projects/1/machineTypes/e2-small", "zone": "projects/1/zones/europe-west1-b", "tags": ["web"]}`,
		}, map[string]any{"id": "1234567890123456789", "type": "e2-small", "region": "europe-west1", "zone": "europe-west1-b", "tags": map[string]any{"web": ""}}},
		"azure": {"Metadata", "true", map[string]string{"/metadata/instance/compute?api-version=2021-02-01": `{"vmId": "0f0f", "vmSize": "Standard_B1s",
			"location": "westeurope", "zone": "", "tagsList": [{"name": "role", "value": "web"}]}`,
		}, map[string]any{"id": "0f0f", "type": "Standard_B1s", "region": "westeurope", "tags": map[string]any{"role": "web"}}},
		"hetzner": {"", "", map[string]string{
			"/hetzner/v1/metadata/instance-id": "42\n", "/hetzner/v1/metadata/region": "eu-central", "/hetzner/v1/metadata/availability-zone": "fsn1-dc14",
		}, map[string]any{"id": "42", "region": "eu-central", "zone": "fsn1-dc14", "tags": map[string]any{}}},
		"digitalocean": {"", "", map[string]string{"/metadata/v1.json": `{"droplet_id": 2756294, "region": "nyc3", "tags": ["web"]}`},
			map[string]any{"id": "2756294", "region": "nyc3", "tags": map[string]any{"web": ""}}},
		"openstack": {"", "", map[string]string{"/openstack/latest/meta_data.json": `{"uuid": "0f0f", "availability_zone": "nova", "meta": {"role": "web"}}`},
			map[string]any{"id": "0f0f", "zone": "nova", "tags": map[string]any{"role": "web"}}},
		"oracle": {"Authorization", "Bearer Oracle", map[string]string{"/opc/v2/instance/": `{"id": "ocid1", "shape": "VM.Standard2.1",
			"canonicalRegionName": "eu-frankfurt-1", "availabilityDomain": "AD-1", "freeformTags": {"role": "web"}}`},
			map[string]any{"id": "ocid1", "type": "VM.Standard2.1", "region": "eu-frankfurt-1", "zone": "AD-1", "tags": map[string]any{"role": "web"}}},
	} {
		t.Run(provider, func(t *testing.T) {
			c.want["provider"] = provider
			got, err := askInstance(t.Context(), provider, serve(t, provider, c.header, c.value, c.texts))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := askInstance(t.Context(), "gce", serve(t, "gce", "Metadata-Flavor", "other", nil))
	require.EqualError(t, err, "metadata service of gce: GET /computeMetadata/v1/instance/?recursive=true: 401 Unauthorized")
}

// A service that does not respond costs the limit, and no more.
func TestInstanceWithoutAnAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }))
	defer server.Close()
	s := metadataServices["hetzner"]
	s.base = server.URL
	_, err := askInstance(t.Context(), "hetzner", s)
	require.EqualError(t, err, "metadata service of hetzner: no response within 1s")
	for provider, s := range metadataServices {
		require.True(t, strings.HasPrefix(s.base, "http://169.254.") || provider == "aliyun", "%s: %s is not link-local", provider, s.base)
	}
}
