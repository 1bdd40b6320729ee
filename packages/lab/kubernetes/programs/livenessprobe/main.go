// The lab's own livenessprobe: answers HTTP GET /healthz with the result of the CSI driver's Probe.
// Upstream's program (kubernetes-csi/livenessprobe) is not published as a Go module. Flags and
// answers are those that manifests use.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	address := flag.String("csi-address", "/run/csi/socket", "socket of the CSI driver")
	port := flag.Int("health-port", 9808, "TCP port of /healthz on all addresses")
	endpoint := flag.String("http-endpoint", "", "address:port of /healthz, instead of --health-port")
	timeout := flag.Duration("probe-timeout", time.Second, "longest wait for the driver's answer")
	flag.Int("v", 0, "accepted for compatibility")
	flag.Parse()

	target := *address
	if !strings.Contains(target, "://") {
		target = "unix://" + target
	}
	// gRPC's default backoff grows to two minutes, which is too long for a restarted driver
	patience := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, MaxDelay: time.Second}
	connection, err := grpc.NewClient(
		target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: patience, MinConnectTimeout: time.Second}),
	)
	if err != nil {
		log.Fatalf("CSI driver at %s: %v", target, err)
	}
	listen := *endpoint
	if listen == "" {
		listen = fmt.Sprintf(":%d", *port)
	}
	http.HandleFunc("/healthz", func(response http.ResponseWriter, request *http.Request) {
		if err := probe(request.Context(), csi.NewIdentityClient(connection), *timeout); err != nil {
			log.Printf("unhealthy: %v", err)
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(response, "ok")
	})
	log.Printf("lab livenessprobe: /healthz on %s for %s", listen, target)
	log.Fatal(http.ListenAndServe(listen, nil))
}

// probe returns nil if the driver answers in time and does not report that it is unready.
func probe(parent context.Context, driver csi.IdentityClient, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	answer, err := driver.Probe(ctx, &csi.ProbeRequest{})
	if err != nil {
		return err
	}
	// an absent value means ready (CSI specification, Probe)
	if ready := answer.GetReady(); ready != nil && !ready.GetValue() {
		return errors.New("the driver is not ready")
	}
	return nil
}
