package testenv

import (
	"net/url"
	"os"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// EtcdAddress is the host and port of the control plane's etcd.
func (e *Environment) EtcdAddress() string {
	return e.controlPlane.ControlPlane.Etcd.URL.Host
}

// StartAPIServer starts another kube-apiserver of the same cluster, which connects to etcd at the given host and port.
// It returns a configuration that connects to it as OperatorUser. The API server stops with the control plane.
func (e *Environment) StartAPIServer(etcd string) (*rest.Config, error) {
	dir, err := os.MkdirTemp(e.Dir, "kube-apiserver-")
	if err != nil {
		return nil, err
	}
	log, err := openLog(e.Dir, "kube-apiserver")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	plane := &envtest.ControlPlane{APIServer: &envtest.APIServer{
		Path: e.controlPlane.ControlPlane.APIServer.Path, CertDir: dir, EtcdURL: &url.URL{Scheme: "http", Host: etcd},
		StartTimeout: HangTimeout, Out: log, Err: log,
	}}
	if err := plane.APIServer.Start(); err != nil {
		return nil, err
	}
	user, err := plane.AddUser(envtest.User{Name: OperatorUser}, nil)
	if err != nil {
		return nil, err
	}
	return user.Config(), nil
}
