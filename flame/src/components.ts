import type { Component } from './hot.ts'

const HTTP = ['packages/runtime/', 'fastify/', '@fastify/', 'find-my-way/', 'prom-client/', 'node:_http_']

/**
 * What belongs to which component of a service, for shares that can be compared with those of other programs. Files that
 * serve several components (streams, sockets, timers) belong to none: whoever calls them answers for them.
 */
export const components: Readonly<Record<string, readonly Component[]>> = {
  stats: [
    { name: 'logger', files: ['packages/stats/src/logger/', 'pino/', 'sonic-boom/', 'thread-stream/'] },
    {
      name: 'client',
      files: [
        'packages/stats/src/client/',
        'undici/',
        'node:internal/deps/undici/',
        'node:_http_client',
        'node:_http_agent',
      ],
    },
    { name: 'cache', files: ['packages/stats/src/cache/', 'packages/stats/src/poller.ts', 'lru-cache/'] },
    {
      name: 'state',
      files: ['packages/stats/src/state/', 'packages/stats/src/collections', 'classic-level/', 'abstract-level/'],
    },
    {
      name: 'server',
      files: [...HTTP, 'packages/stats/src/routes/'],
    },
  ],
  sse: [
    {
      name: 'door',
      files: ['packages/sse/src/routes/wait.ts', 'packages/sse/src/admission.ts', 'packages/runtime/src/door/'],
    },
    {
      name: 'streams',
      files: [
        'packages/sse/src/hub.ts',
        'packages/sse/src/group.ts',
        'packages/sse/src/streams.ts',
        'packages/sse/src/fanout/',
      ],
    },
    {
      name: 'broker',
      files: ['packages/sse/src/broker/', 'packages/runtime/src/process/channel.ts', 'node:internal/worker/'],
    },
    { name: 'history', files: ['packages/sse/src/history/'] },
    { name: 'topics', files: ['packages/sse/src/core/topic-', 'packages/sse/src/core/selectors.ts'] },
    { name: 'tokens', files: ['packages/sse/src/tokens/', 'jose/'] },
    { name: 'encoder', files: ['packages/sse/src/encoder/', 'packages/sse/src/core/'] },
    { name: 'server', files: [...HTTP, 'packages/sse/src/routes/'] },
  ],
  kv: [
    { name: 'store', files: ['packages/kv/src/store/', 'classic-level/', 'abstract-level/'] },
    {
      name: 'tags and queries',
      files: ['packages/kv/src/core/', 'packages/kv/src/routes/read-', 'node:internal/crypto/'],
    },
    { name: 'server', files: [...HTTP, 'packages/kv/src/routes/'] },
  ],
  prices: [
    { name: 'index', files: ['packages/prices/src/index/', 'roaring/'] },
    {
      name: 'request reader',
      files: [
        'packages/prices/src/core/scanner.ts',
        'packages/prices/src/core/items.ts',
        'packages/prices/src/core/terms.ts',
        'packages/prices/src/core/text-table.ts',
        'packages/prices/src/core/resolve.ts',
        'packages/prices/src/search-schema.ts',
      ],
    },
    {
      name: 'answer',
      files: ['packages/prices/src/core/render.ts', 'packages/prices/src/view.ts', 'packages/prices/src/catalog/'],
    },
    {
      name: 'server',
      files: [...HTTP, 'packages/prices/src/routes/', 'packages/prices/src/bulk.ts', 'packages/prices/src/searcher.ts'],
    },
  ],
}
