// The lab's own flannel CNI plugin: reads the subnet file that flanneld wrote for this node, and
// calls another plugin (by default bridge with host-local) with a configuration for this subnet.
// Upstream's plugin (flannel-io/cni-plugin) is not published as a Go module. Configuration keys and
// defaults are those of flannel's manifest.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

const (
	defaultSubnetFile = "/run/flannel/subnet.env"
	defaultDataDir    = "/var/lib/cni/flannel"
)

type config struct {
	types.NetConf
	SubnetFile string         `json:"subnetFile"`
	DataDir    string         `json:"dataDir"`
	Delegate   map[string]any `json:"delegate"`
	Runtime    map[string]any `json:"runtimeConfig,omitempty"`
}

// subnet is the content of the file that flanneld writes: one KEY=value per line.
type subnet struct {
	networks, subnets []string
	mtu               int
	masquerade        bool
}

func readSubnet(path string) (*subnet, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("flanneld has not written %s yet: %w", path, err)
	}
	defer file.Close()
	var result subnet
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		switch key {
		case "FLANNEL_NETWORK", "FLANNEL_IPV6_NETWORK":
			result.networks = append(result.networks, strings.Split(value, ",")...)
		case "FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET":
			// flanneld writes the gateway's address with the prefix length; host-local needs the
			// subnet
			_, network, err := net.ParseCIDR(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path, key, err)
			}
			result.subnets = append(result.subnets, network.String())
		case "FLANNEL_MTU":
			if result.mtu, err = strconv.Atoi(value); err != nil {
				return nil, fmt.Errorf("%s: FLANNEL_MTU: %w", path, err)
			}
		case "FLANNEL_IPMASQ":
			result.masquerade = value == "true"
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(result.subnets) == 0 || len(result.networks) == 0 || result.mtu == 0 {
		return nil, fmt.Errorf("%s lacks FLANNEL_NETWORK, FLANNEL_SUBNET or FLANNEL_MTU", path)
	}
	return &result, nil
}

// load reads the plugin's configuration with its defaults.
func load(data []byte) (*config, error) {
	conf := &config{SubnetFile: defaultSubnetFile, DataDir: defaultDataDir}
	if err := json.Unmarshal(data, conf); err != nil {
		return nil, fmt.Errorf("network configuration: %w", err)
	}
	if conf.Delegate == nil {
		conf.Delegate = map[string]any{}
	}
	return conf, nil
}

// delegate returns the configuration of the plugin that creates the network interface.
func delegate(conf *config, node *subnet) map[string]any {
	result := map[string]any{"type": "bridge", "mtu": node.mtu, "ipMasq": !node.masquerade}
	for key, value := range conf.Delegate {
		result[key] = value
	}
	if result["type"] == "bridge" {
		if _, given := result["isGateway"]; !given {
			result["isGateway"] = true
		}
	}
	ranges := make([]any, 0, len(node.subnets))
	for _, cidr := range node.subnets {
		ranges = append(ranges, []any{map[string]any{"subnet": cidr}})
	}
	routes := make([]any, 0, len(node.networks))
	for _, cidr := range node.networks {
		routes = append(routes, map[string]any{"dst": cidr})
	}
	result["ipam"] = map[string]any{"type": "host-local", "ranges": ranges, "routes": routes}
	result["name"] = conf.Name
	result["cniVersion"] = conf.CNIVersion
	if conf.Runtime != nil {
		result["runtimeConfig"] = conf.Runtime
	}
	return result
}

func add(args *skel.CmdArgs) error {
	conf, err := load(args.StdinData)
	if err != nil {
		return err
	}
	node, err := readSubnet(conf.SubnetFile)
	if err != nil {
		return err
	}
	wanted := delegate(conf, node)
	rendered, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	// DEL uses the saved configuration, because the subnet file may have changed
	if err := os.MkdirAll(conf.DataDir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(conf.DataDir, args.ContainerID), rendered, 0o600); err != nil {
		return err
	}
	result, err := invoke.DelegateAdd(context.TODO(), fmt.Sprint(wanted["type"]), rendered, nil)
	if err != nil {
		return err
	}
	return types.PrintResult(result, conf.CNIVersion)
}

// withSaved calls work with the configuration that ADD saved. Without a saved configuration,
// withSaved does nothing.
func withSaved(args *skel.CmdArgs, work func(kind string, rendered []byte) error) (string, error) {
	conf, err := load(args.StdinData)
	if err != nil {
		return "", err
	}
	path := filepath.Join(conf.DataDir, args.ContainerID)
	rendered, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return path, nil
	}
	if err != nil {
		return path, err
	}
	var saved types.NetConf
	if err := json.Unmarshal(rendered, &saved); err != nil {
		return path, err
	}
	return path, work(saved.Type, rendered)
}

func del(args *skel.CmdArgs) error {
	path, err := withSaved(args, func(kind string, rendered []byte) error {
		return invoke.DelegateDel(context.TODO(), kind, rendered, nil)
	})
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func check(args *skel.CmdArgs) error {
	_, err := withSaved(args, func(kind string, rendered []byte) error {
		return invoke.DelegateCheck(context.TODO(), kind, rendered, nil)
	})
	return err
}

func main() {
	skel.PluginMainFuncs(
		skel.CNIFuncs{Add: add, Del: del, Check: check},
		version.All,
		"stackadm lab flannel CNI plugin",
	)
}
