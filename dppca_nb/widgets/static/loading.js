// loading
