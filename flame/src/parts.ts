import type { Part } from './hot.ts'

/**
 * What belongs to which part of a service, for shares that can be compared with those of other programs. Files that
 * serve several parts (streams, sockets, timers) belong to none: whoever calls them answers for them.
 */
export const parts: Readonly<Record<string, readonly Part[]>> = {
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
      files: [
        'packages/stats/src/server/',
        'packages/stats/src/routes/',
        'packages/runtime/',
        'fastify/',
        '@fastify/',
        'find-my-way/',
        'prom-client/',
        'node:_http_',
      ],
    },
  ],
}
