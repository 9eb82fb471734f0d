// Counters and histograms of a process, in the Prometheus text format on the operator endpoint.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** Makes the metrics of a process in a registry of their own, so that tests and several servers can coexist. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    /** Adds memory, CPU, event loop delay and garbage collection of this process. */
    collectProcessMetrics: () => collectDefaultMetrics({ register: registry }),
    httpRequests: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time from the request line to the last byte handed over, by service, route template and status.',
      labelNames: ['service', 'method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    rateLimited: new Counter({
      name: 'svc_rate_limited_total',
      help: 'Requests refused by a rate limit.',
      labelNames: ['limit'],
      registers,
    }),
    redisFallbacks: new Counter({
      name: 'svc_redis_fallbacks_total',
      help: 'Rate limit decisions a process made by itself because Redis was away.',
      registers,
    }),
    databaseUp: new Gauge({ name: 'svc_database_up', help: '1 while the database answers.', registers }),
    redisUp: new Gauge({
      name: 'svc_redis_up',
      help: '1 while Redis answers, and where there is none to be asked.',
      registers,
    }),
    kanbanStreams: new Gauge({ name: 'svc_kanban_streams', help: 'Event streams that are open.', registers }),
    relayConnections: new Gauge({
      name: 'svc_relay_connections',
      help: 'Connections to the relay that are open.',
      registers,
    }),
    relayFrames: new Counter({
      name: 'svc_relay_frames_total',
      help: 'Frames of traffic that arrived at the relay.',
      registers,
    }),
    relayDropped: new Counter({
      name: 'svc_relay_dropped_total',
      help: 'Connections of the relay that were closed because their reader did not keep up.',
      registers,
    }),
    linkRedirects: new Counter({
      name: 'svc_link_redirects_total',
      help: 'Redirects answered, those of bots and of HEAD among them.',
      registers,
    }),
    linkClicks: new Counter({
      name: 'svc_link_clicks_recorded_total',
      help: 'Clicks this process has written to the database.',
      registers,
    }),
    linkClicksDropped: new Counter({
      name: 'svc_link_clicks_dropped_total',
      help: 'Clicks given up because neither Redis nor the database took them and memory for them ran out.',
      registers,
    }),
    jobRuns: new Counter({
      name: 'svc_job_runs_total',
      help: 'Finished runs of scheduled jobs by outcome.',
      labelNames: ['job', 'status'],
      registers,
    }),
  };
}
