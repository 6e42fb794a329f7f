package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// scrapeMetrics reads the metrics through their Service, with a token that may and without one.
func (s *scenario) scrapeMetrics(ctx context.Context) (string, error) {
	for _, arguments := range [][]string{
		{"create", "serviceaccount", "prometheus", "-n", sandboxNamespace},
		{
			"create", "clusterrolebinding", "prometheus", "--clusterrole=" + operatorName + "-metrics-reader",
			"--serviceaccount=" + sandboxNamespace + ":prometheus",
		},
	} {
		if _, err := s.kubectl(ctx, arguments...); err != nil {
			return "", err
		}
	}
	token, err := s.kubectl(ctx, "create", "token", "prometheus", "-n", sandboxNamespace)
	if err != nil {
		return "", err
	}
	address, err := s.kubectl(ctx, "get", "service", operatorName+"-metrics", "-n", operatorNamespace,
		"-o", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return "", err
	}
	url := "https://" + address + ":8443/metrics"
	var status int
	err = until(ctx, "the metrics are served", func(ctx context.Context) (bool, string) {
		status, _, err = scrape(ctx, url, "")
		return err == nil, fmt.Sprint(err)
	})
	if err != nil {
		return "", err
	}
	if status != http.StatusUnauthorized {
		return "", fmt.Errorf("without a token, the status is %d, want 401", status)
	}
	var samples int
	err = until(ctx, "the metrics can be read with a token", func(ctx context.Context) (bool, string) {
		status, body, err := scrape(ctx, url, strings.TrimSpace(token))
		samples = strings.Count(body, "\nidv_")
		return status == http.StatusOK && samples > 0, fmt.Sprint(status, err)
	})
	return fmt.Sprintf("%d samples of idv_*, over TLS, with a token", samples), err
}

func scrape(ctx context.Context, url, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the operator signs its own by default
		DisableKeepAlives: true,
	}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
