import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from './db.ts';

export type Metrics = {
  registry: Registry;
  requestDuration: Histogram<'http_request_method' | 'http_route' | 'http_response_status_code'>;
};

/** Names follow OpenTelemetry's semantic conventions, in the form Prometheus writes them. */
export function createMetrics(db: Database | undefined): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (db) {
    new Gauge({
      name: 'db_client_connection_count',
      help: 'Connections of the pool, by state.',
      labelNames: ['state'],
      registers: [registry],
      collect() {
        const { used, idle } = db.connections();
        this.set({ state: 'used' }, used);
        this.set({ state: 'idle' }, idle);
      },
    });
    new Gauge({
      name: 'db_client_connection_pending_requests',
      help: 'Requests that wait for a connection of the pool.',
      registers: [registry],
      collect() {
        this.set(db.connections().waiting);
      },
    });
  }
  const requestDuration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'How long requests took, by route and status.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers: [registry],
  });
  return { registry, requestDuration };
}
