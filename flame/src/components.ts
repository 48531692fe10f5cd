import type { Component } from './graph/hot-functions.ts'

const HTTP_FILES = [
  'packages/runtime/src/http/',
  'packages/runtime/src/worker/',
  'fastify/',
  '@fastify/',
  'find-my-way/',
  'node:_http_server',
]

/** Files that the server shares with the other components: errors, metrics, timers, and messages of HTTP. */
const SHARED_FILES = ['packages/runtime/', 'prom-client/', 'node:_http_']

/** Files of the server adapters. The hooks of Fastify, in the same folder, belong to the server. */
const ADAPTER_FILES = 'bytes-parser endpoint fastify-adapter node-adapter raw- reply- request-grammar request-reader'
  .split(' ')
  .map((name) => `packages/runtime/src/http/server/${name}`)

/** Creates a component. @param files prefixes of its files, separated by spaces @param more further prefixes */
const createComponent = (name: string, files: string, more: readonly string[] = []): Component => {
  return { name, files: [...more, ...files.split(' ')] }
}

/** Creates the component that answers requests. */
const createServer = (files: string): Component => {
  return { ...createComponent('server', files, HTTP_FILES), shared: SHARED_FILES }
}

/** Writes the log, for the loggers of all services. */
const LOGGER_FILES = 'packages/runtime/src/logging/'

/**
 * Components of each service with their files, so that their shares can be compared with other programs. Files that
 * several components use (streams, sockets, timers) belong to no component, and count for the component of the
 * nearest caller. Of several components that match a file, the first one counts.
 */
export const components: Readonly<Record<string, readonly Component[]>> = {
  stats: [
    createComponent('logger', 'packages/stats/src/logger/ pino/ sonic-boom/ thread-stream/', [LOGGER_FILES]),
    createComponent(
      'client',
      'packages/stats/src/youtube/ packages/stats/src/client/ undici/ node:internal/deps/undici/ node:_http_client node:_http_agent',
    ),
    createComponent(
      'cache',
      'packages/stats/src/cache/ packages/stats/src/refresh/poller.ts packages/stats/src/refresh/first-numbers.ts packages/stats/src/refresh/reply-table.ts packages/runtime/src/async/resolve-within.ts lru-cache/',
    ),
    createComponent('state', 'packages/stats/src/state/ packages/stats/src/campaigns/ classic-level/ abstract-level/'),
    createServer('packages/stats/src/routes/'),
  ],
  sse: [
    createComponent('logger', LOGGER_FILES),
    createComponent(
      'server adapter',
      'packages/sse/src/routes/wait-route.ts packages/sse/src/routes/parse-subscription.ts',
      ADAPTER_FILES,
    ),
    createComponent(
      'streams',
      'packages/sse/src/hub/hub.ts packages/sse/src/hub/stream-groups.ts packages/sse/src/hub/streams.ts packages/sse/src/fanout/',
    ),
    {
      ...createComponent('broker', 'packages/sse/src/broker/ packages/runtime/src/channel/channel.ts'),
      shared: ['node:internal/worker/'],
    },
    createComponent('history', 'packages/sse/src/history/'),
    createComponent('topics', 'packages/sse/src/core/topic- packages/sse/src/core/selectors.ts'),
    createComponent('tokens', 'packages/sse/src/tokens/ jose/'),
    createComponent('encoder', 'packages/sse/src/encoder/ packages/sse/src/core/'),
    createServer('packages/sse/src/routes/'),
  ],
  kv: [
    createComponent('logger', LOGGER_FILES),
    createComponent('store', 'packages/kv/src/store/ packages/kv/src/cluster/ classic-level/ abstract-level/'),
    createComponent('log', 'packages/log/ packages/kv/src/watch/ @nats-io/'),
    {
      ...createComponent('tags and queries', 'packages/kv/src/core/ packages/kv/src/routes/read-'),
      shared: ['node:internal/crypto/'],
    },
    createServer('packages/kv/src/routes/'),
  ],
  prices: [
    createComponent('logger', LOGGER_FILES),
    createComponent('index', 'packages/prices/src/index/ roaring/'),
    createComponent(
      'request reader',
      'packages/prices/src/search/request-scanner.ts packages/prices/src/search/item-scanner.ts packages/prices/src/core/terms.ts packages/prices/src/core/text-table.ts packages/prices/src/search/resolve-request.ts packages/prices/src/search/search-schema.ts',
    ),
    createComponent(
      'answer',
      'packages/prices/src/search/render-answer.ts packages/prices/src/search/catalog-view.ts packages/prices/src/answer-store/',
    ),
    createServer(
      'packages/prices/src/routes/ packages/prices/src/search/bulk-search.ts packages/prices/src/search/searcher.ts',
    ),
  ],
}
