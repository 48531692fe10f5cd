import type { Component } from './hot.ts'

const HTTP = ['packages/runtime/', 'fastify/', '@fastify/', 'find-my-way/', 'prom-client/', 'node:_http_']

/** A component by the prefixes of its files, with a space between. */
const part = (name: string, files: string, more: readonly string[] = []): Component => {
  return { name, files: [...more, ...files.split(' ')] }
}

/**
 * What belongs to which component of a service, for shares that can be compared with those of other programs. Files that
 * serve several components (streams, sockets, timers) belong to none: whoever calls them answers for them.
 */
export const components: Readonly<Record<string, readonly Component[]>> = {
  stats: [
    part('logger', 'packages/stats/src/logger/ pino/ sonic-boom/ thread-stream/'),
    part('client', 'packages/stats/src/client/ undici/ node:internal/deps/undici/ node:_http_client node:_http_agent'),
    part('cache', 'packages/stats/src/cache/ packages/stats/src/poller.ts packages/stats/src/board.ts lru-cache/'),
    part('state', 'packages/stats/src/state/ packages/stats/src/collections classic-level/ abstract-level/'),
    part('server', 'packages/stats/src/routes/', HTTP),
  ],
  sse: [
    part('door', 'packages/sse/src/routes/wait.ts packages/sse/src/admission.ts packages/runtime/src/door/'),
    part(
      'streams',
      'packages/sse/src/hub.ts packages/sse/src/group.ts packages/sse/src/streams.ts packages/sse/src/fanout/',
    ),
    part('broker', 'packages/sse/src/broker/ packages/runtime/src/process/channel.ts node:internal/worker/'),
    part('history', 'packages/sse/src/history/'),
    part('topics', 'packages/sse/src/core/topic- packages/sse/src/core/selectors.ts'),
    part('tokens', 'packages/sse/src/tokens/ jose/'),
    part('encoder', 'packages/sse/src/encoder/ packages/sse/src/core/'),
    part('server', 'packages/sse/src/routes/', HTTP),
  ],
  kv: [
    part('store', 'packages/kv/src/store/ classic-level/ abstract-level/'),
    part('log', 'packages/log/ packages/kv/src/watch/ @nats-io/'),
    part('tags and queries', 'packages/kv/src/core/ packages/kv/src/routes/read- node:internal/crypto/'),
    part('server', 'packages/kv/src/routes/', HTTP),
  ],
  prices: [
    part('index', 'packages/prices/src/index/ roaring/'),
    part(
      'request reader',
      'packages/prices/src/core/scanner.ts packages/prices/src/core/items.ts packages/prices/src/core/terms.ts packages/prices/src/core/text-table.ts packages/prices/src/core/resolve.ts packages/prices/src/search-schema.ts',
    ),
    part('answer', 'packages/prices/src/core/render.ts packages/prices/src/view.ts packages/prices/src/catalog/'),
    part('server', 'packages/prices/src/routes/ packages/prices/src/bulk.ts packages/prices/src/searcher.ts', HTTP),
  ],
}
