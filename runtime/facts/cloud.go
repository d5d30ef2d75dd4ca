package facts

import (
	"context"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherCloud(_ context.Context, v *host.View) (any, error) {
	provider, err := cloudProvider(running(v))
	if err != nil {
		return nil, err
	}
	if provider == "" {
		provider = "none"
	}
	return map[string]any{"provider": provider}, nil
}

// cloudSigns are what the firmware of virtual machines says, by the names that cloud-init has for the clouds. The first
// sign that fits counts: what names a cloud stands before what names the software below several clouds.
var cloudSigns = []struct{ file, prefix, provider string }{
	{"sys_vendor", "Amazon EC2", "aws"},
	{"bios_vendor", "Amazon EC2", "aws"},
	{"product_name", "Google Compute Engine", "gce"},
	{"chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "azure"},
	{"sys_vendor", "DigitalOcean", "digitalocean"},
	{"sys_vendor", "Hetzner", "hetzner"},
	{"sys_vendor", "Vultr", "vultr"},
	{"chassis_asset_tag", "OracleCloud.com", "oracle"},
	{"product_name", "Alibaba Cloud", "aliyun"},
	{"sys_vendor", "Scaleway", "scaleway"},
	{"product_name", "Exoscale", "exoscale"},
	{"sys_vendor", "Akamai", "akamai"},
	{"sys_vendor", "Linode", "akamai"},
	{"sys_vendor", "UpCloud", "upcloud"},
	{"sys_vendor", "Tencent Cloud", "tencent"},
	{"chassis_asset_tag", "ibmcloud", "ibmcloud"},
	{"product_name", "OpenStack", "openstack"},
	{"chassis_asset_tag", "OpenTelekomCloud", "openstack"},
}

// cloudProvider returns the cloud that the firmware names, or "".
func cloudProvider(run *host.View) (string, error) {
	texts := make(map[string]string)
	for _, sign := range cloudSigns {
		text, read := texts[sign.file]
		if !read {
			var err error
			if text, err = readText(run, "/sys/class/dmi/id/"+sign.file); err != nil {
				return "", err
			}
			texts[sign.file] = text
		}
		if strings.HasPrefix(text, sign.prefix) {
			return sign.provider, nil
		}
	}
	// Instances of EC2 on Xen have the name in the version, such as 4.11.amazon.
	version, err := readText(run, "/sys/class/dmi/id/bios_version")
	if strings.HasSuffix(version, ".amazon") {
		return "aws", err
	}
	return "", err
}
