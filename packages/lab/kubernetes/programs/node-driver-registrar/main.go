// The lab's own node-driver-registrar: registers the socket of a CSI driver with the kubelet, over
// the kubelet's plugin registration API. Upstream's program (kubernetes-csi/node-driver-registrar)
// is
// not published as a Go module. Flags, socket name and exit after a refusal are those that
// manifests
// use.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const supportedVersion = "1.0.0"

type server struct {
	registration.UnimplementedRegistrationServer
	name, endpoint string
	refused        chan string
}

// GetInfo returns to the kubelet the name and the socket of the CSI driver.
func (s *server) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type:              registration.CSIPlugin,
		Name:              s.name,
		Endpoint:          s.endpoint,
		SupportedVersions: []string{supportedVersion},
	}, nil
}

// NotifyRegistrationStatus receives the result of the registration from the kubelet. After a
// refusal, the process exits, so that a restart tries again.
func (s *server) NotifyRegistrationStatus(
	_ context.Context, status *registration.RegistrationStatus,
) (*registration.RegistrationStatusResponse, error) {
	if !status.GetPluginRegistered() {
		s.refused <- status.GetError()
	} else {
		log.Printf("registered %s", s.name)
	}
	return &registration.RegistrationStatusResponse{}, nil
}

func main() {
	address := flag.String("csi-address", "/run/csi/socket", "socket of the CSI driver in this container")
	endpoint := flag.String("kubelet-registration-path", "", "socket of the CSI driver on the host")
	directory := flag.String("plugin-registration-path", "/registration", "the kubelet's plugin folder in this container")
	health := flag.String("http-endpoint", "", "address:port of /healthz; empty for none")
	healthPort := flag.Int("health-port", 0, "TCP port of /healthz; 0 for none")
	timeout := flag.Duration("timeout", 30*time.Second, "longest wait for one answer of the driver")
	mode := flag.String("mode", "registration", "registration, or kubelet-registration-probe: is the socket on the host there")
	flag.Duration("operation-timeout", time.Second, "accepted for compatibility")
	flag.Int("v", 0, "accepted for compatibility")
	flag.Parse()
	if *endpoint == "" {
		log.Fatal("--kubelet-registration-path is required")
	}
	if *mode == "kubelet-registration-probe" {
		if _, err := os.Stat(*endpoint); err != nil {
			log.Fatalf("not registered: %v", err)
		}
		return
	}

	name, err := driverName(*address, *timeout)
	if err != nil {
		log.Fatalf("CSI driver at %s: %v", *address, err)
	}
	socket := filepath.Join(*directory, name+"-reg.sock")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	syscall.Umask(0o077) // only root may connect; the kubelet runs as root
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	refused := make(chan string, 1)
	grpcServer := grpc.NewServer()
	registration.RegisterRegistrationServer(grpcServer, &server{name: name, endpoint: *endpoint, refused: refused})
	if *health == "" && *healthPort != 0 {
		*health = fmt.Sprintf(":%d", *healthPort)
	}
	if *health != "" {
		go serveHealth(*health, socket)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() { log.Fatal(grpcServer.Serve(listener)) }()
	log.Printf("lab node-driver-registrar: %s at %s, waiting for the kubelet on %s", name, *endpoint, socket)
	select {
	case reason := <-refused:
		os.Remove(socket)
		log.Fatalf("the kubelet refused %s: %s", name, reason)
	case <-stop:
		os.Remove(socket)
	}
}

// driverName waits up to timeout for the answer of the driver and returns the driver's name.
func driverName(address string, timeout time.Duration) (string, error) {
	if !strings.Contains(address, "://") {
		address = "unix://" + address
	}
	// gRPC's default backoff can be longer than the start of a driver
	patience := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, MaxDelay: time.Second}
	connection, err := grpc.NewClient(
		address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: patience, MinConnectTimeout: time.Second}),
	)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	// waits for the driver, whose container may start after this container
	info, err := csi.NewIdentityClient(connection).GetPluginInfo(
		ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return "", err
	}
	if info.GetName() == "" {
		return "", fmt.Errorf("it gives no name")
	}
	return info.GetName(), nil
}

func serveHealth(endpoint, socket string) {
	http.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(socket); err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(response, "ok")
	})
	log.Fatal(http.ListenAndServe(endpoint, nil))
}
