package facts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// metadataLimit is the time for all questions to the metadata service of a cloud.
const metadataLimit = time.Second

// gatherInstance asks the metadata service of the cloud. A machine that is in no cloud, or in one whose service is not
// known here, has no such fact, and nothing is sent.
func gatherInstance(ctx context.Context, v *host.View) (any, error) {
	provider, err := cloudProvider(running(v))
	if err != nil {
		return nil, err
	}
	service, known := metadataServices[provider]
	if !known {
		return nil, nil
	}
	return askInstance(ctx, provider, service)
}

// A metadataService says how to ask the metadata service of one cloud.
type metadataService struct {
	base   string // the URL before the paths
	header [2]string
	// token is the path that answers PUT with a token for header, with tokenHeader for how many seconds it holds.
	token, tokenHeader string
	// fields are the paths of plain texts by the names of facts.
	fields map[string]string
	// document is the path of one JSON document, and pick what it has for the facts.
	document string
	pick     func(doc map[string]any) map[string]any
	// tags is the path of a list of the names of tags, each of which is a path below it; it may not exist.
	tags string
}

// metadataServices are the services as their vendors document them.
var metadataServices = map[string]metadataService{
	"aws": {
		base: "http://169.254.169.254", header: [2]string{"X-aws-ec2-metadata-token"},
		token: "/latest/api/token", tokenHeader: "X-aws-ec2-metadata-token-ttl-seconds",
		fields: map[string]string{
			"id": "/latest/meta-data/instance-id", "type": "/latest/meta-data/instance-type",
			"region": "/latest/meta-data/placement/region", "zone": "/latest/meta-data/placement/availability-zone",
		},
		tags: "/latest/meta-data/tags/instance/",
	},
	"aliyun": {
		base: "http://100.100.100.200", header: [2]string{"X-aliyun-ecs-metadata-token"},
		token: "/latest/api/token", tokenHeader: "X-aliyun-ecs-metadata-token-ttl-seconds",
		fields: map[string]string{
			"id": "/latest/meta-data/instance-id", "type": "/latest/meta-data/instance/instance-type",
			"region": "/latest/meta-data/region-id", "zone": "/latest/meta-data/zone-id",
		},
	},
	"gce": {
		base: "http://169.254.169.254", header: [2]string{"Metadata-Flavor", "Google"},
		document: "/computeMetadata/v1/instance/?recursive=true",
		pick: func(doc map[string]any) map[string]any {
			zone := lastPart(textAt(doc, "zone"))
			region := zone
			if i := strings.LastIndexByte(zone, '-'); i >= 0 {
				region = zone[:i]
			}
			tags := make(map[string]any)
			list, _ := doc["tags"].([]any)
			for _, tag := range list {
				tags[fmt.Sprint(tag)] = ""
			}
			return map[string]any{"id": textAt(doc, "id"), "type": lastPart(textAt(doc, "machineType")), "zone": zone, "region": region, "tags": tags}
		},
	},
	"azure": {
		base: "http://169.254.169.254", header: [2]string{"Metadata", "true"},
		document: "/metadata/instance/compute?api-version=2021-02-01",
		pick: func(doc map[string]any) map[string]any {
			tags := make(map[string]any)
			list, _ := doc["tagsList"].([]any)
			for _, item := range list {
				tag, _ := item.(map[string]any)
				tags[textAt(tag, "name")] = textAt(tag, "value")
			}
			return map[string]any{"id": textAt(doc, "vmId"), "type": textAt(doc, "vmSize"), "region": textAt(doc, "location"), "zone": textAt(doc, "zone"), "tags": tags}
		},
	},
	"digitalocean": {
		base: "http://169.254.169.254", document: "/metadata/v1.json",
		pick: func(doc map[string]any) map[string]any {
			tags := make(map[string]any)
			list, _ := doc["tags"].([]any)
			for _, tag := range list {
				tags[fmt.Sprint(tag)] = ""
			}
			return map[string]any{"id": textAt(doc, "droplet_id"), "region": textAt(doc, "region"), "tags": tags}
		},
	},
	"hetzner": {
		base: "http://169.254.169.254",
		fields: map[string]string{
			"id": "/hetzner/v1/metadata/instance-id", "region": "/hetzner/v1/metadata/region",
			"zone": "/hetzner/v1/metadata/availability-zone",
		},
	},
	"oracle": {
		base: "http://169.254.169.254", header: [2]string{"Authorization", "Bearer Oracle"}, document: "/opc/v2/instance/",
		pick: func(doc map[string]any) map[string]any {
			tags, _ := doc["freeformTags"].(map[string]any)
			return map[string]any{"id": textAt(doc, "id"), "type": textAt(doc, "shape"), "region": textAt(doc, "canonicalRegionName"), "zone": textAt(doc, "availabilityDomain"), "tags": tags}
		},
	},
	"openstack": {
		base: "http://169.254.169.254", document: "/openstack/latest/meta_data.json",
		pick: func(doc map[string]any) map[string]any {
			tags, _ := doc["meta"].(map[string]any)
			return map[string]any{"id": textAt(doc, "uuid"), "zone": textAt(doc, "availability_zone"), "tags": tags}
		},
	},
	"vultr": {
		base: "http://169.254.169.254", document: "/v1.json",
		pick: func(doc map[string]any) map[string]any {
			region, _ := doc["region"].(map[string]any)
			return map[string]any{"id": textAt(doc, "instance-v2-id"), "region": textAt(region, "regioncode")}
		},
	},
}

// textAt returns a text or a number of a JSON document as a text, "" if there is none.
func textAt(doc map[string]any, name string) string {
	switch v := doc[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// lastPart returns what follows the last slash.
func lastPart(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// errNoAnswer is the error for a path that the service does not have.
var errNoAnswer = errors.New("404 Not Found")

// askInstance returns the branch instance.
func askInstance(ctx context.Context, provider string, s metadataService) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataLimit)
	defer cancel()
	branch, err := s.ask(ctx)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = diag.NoResponse(metadataLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata service of %s: %w", provider, err)
	}
	branch["provider"] = provider
	maps.DeleteFunc(branch, func(_ string, val any) bool { return val == "" })
	tags := make(map[string]any)
	found, _ := branch["tags"].(map[string]any)
	for name, val := range found {
		tags[name] = fmt.Sprint(val)
	}
	branch["tags"] = tags
	return branch, nil
}

func (s metadataService) ask(ctx context.Context) (map[string]any, error) {
	// A proxy would be asked about its own machine, and a redirection leads away from the service.
	client := &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	if s.token != "" {
		token, err := s.text(ctx, client, http.MethodPut, s.token, [2]string{s.tokenHeader, "60"})
		if err != nil {
			return nil, err
		}
		s.header[1] = token
	}
	get := func(path string) (string, error) { return s.text(ctx, client, http.MethodGet, path, s.header) }
	if s.document != "" {
		text, err := get(s.document)
		if err != nil {
			return nil, err
		}
		var doc map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			return nil, fmt.Errorf("%s: %w", s.document, err)
		}
		return s.pick(doc), nil
	}
	branch := make(map[string]any)
	for name, path := range s.fields {
		text, err := get(path)
		if err != nil && !errors.Is(err, errNoAnswer) {
			return nil, err
		}
		branch[name] = strings.TrimSpace(text)
	}
	if s.tags == "" {
		return branch, nil
	}
	names, err := get(s.tags)
	if err != nil && !errors.Is(err, errNoAnswer) { // tags are not shown to the instance unless that is switched on
		return nil, err
	}
	tags := make(map[string]any)
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == '\n' }) {
		text, err := get(s.tags + url.PathEscape(name))
		if err != nil && !errors.Is(err, errNoAnswer) {
			return nil, err
		}
		tags[name] = text
	}
	branch["tags"] = tags
	return branch, nil
}

// text returns the text at a path of the service.
func (s metadataService) text(ctx context.Context, client *http.Client, method, path string, header [2]string) (string, error) {
	q, err := http.NewRequestWithContext(ctx, method, s.base+path, nil)
	if err != nil {
		return "", err
	}
	if header[0] != "" {
		q.Header.Set(header[0], header[1])
	}
	resp, err := client.Do(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusNotFound:
		return "", errNoAnswer
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return string(body), nil
}
