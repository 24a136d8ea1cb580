import express, { type Express } from 'express';
import type { RequestListener } from 'node:http';
import type { Metrics } from '../observability/metrics';

/** A host, or the origin of a page it served. */
const LOCAL = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** The application on the loopback port: GraphQL for analysts, and figures for operators. Nothing here is paid. */
export function makeInternal(explorer: RequestListener, metrics: Metrics): Express {
  const app = express();
  app.disable('x-powered-by');
  // A page from elsewhere must neither read for free, by resolving its own name to this machine, nor have a browser here ask for it.
  app.use(({ headers }, response, next) => {
    const { host = '', origin = host } = headers;
    // Images and scripts are asked for without an origin; a link from elsewhere opens GraphiQL, which asks nothing by itself.
    const isDrawnIn = headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate';
    if (LOCAL.test(host) && LOCAL.test(origin) && !isDrawnIn) next();
    else response.status(403).json({ error: 'Only reachable as localhost.' });
  });
  app.get('/', (_request, response) => response.redirect('/graphql'));
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  app.use('/graphql', (request, response) => {
    request.url = request.originalUrl;
    explorer(request, response);
  });
  return app;
}
