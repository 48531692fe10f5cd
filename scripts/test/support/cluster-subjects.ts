/** Clustered service, as the tests of `pnpm cluster rescue` use it. */
export interface ClusterSubject {
  readonly name: 'kv' | 'stats' | 'prices' | 'sse'
  /** Settings of its nodes. */
  readonly settings: readonly string[]
  /** Returns the request that writes an item. */
  createWrite(item: string): { readonly path: string; readonly init: RequestInit }
  /** Path of all data, one item per line. */
  readonly contentPath: string
  /** True if the data includes what the service adds to items after it has acknowledged them. Absent if it adds nothing. */
  isComplete?(content: string): boolean
  /** Path that reads after all writes that any node has acknowledged. */
  readonly readPath: string
}

const createRequest = (path: string, method: string, body: string, type = 'application/json') => ({
  path,
  init: { method, body, headers: { 'content-type': type } },
})

const countLines = (content: string, type: string) => content.split(`{"type":"${type}"`).length - 1

const toUuid = (item: string) => `00000000-0000-4000-8000-${Buffer.from(item).toString('hex').padStart(12, '0')}`

export const clusterSubjects: readonly ClusterSubject[] = [
  {
    name: 'kv',
    settings: [],
    createWrite: (item) => createRequest(`/v0/entity?id=${item}`, 'PUT', `<${item}>`, 'text/plain'),
    contentPath: '/v0/entities?start=%00',
    readPath: '/v0/entity?id=none&linearizable=true',
  },
  {
    name: 'stats',
    settings: [
      '--youtubeUri',
      'http://127.0.0.1:9',
      '--youtubeApiKey',
      'none',
      '--refreshInterval',
      '3600000',
      '--sseUri',
      '',
    ],
    createWrite: (item) =>
      createRequest(`/collections/${item}`, 'PUT', JSON.stringify({ videos: [], name: `<${item}>` })),
    contentPath: '/export',
    // The first point of a new collection follows it.
    isComplete: (content) => countLines(content, 'point') === countLines(content, 'collection'),
    readPath: '/export',
  },
  {
    name: 'prices',
    settings: [],
    createWrite(item) {
      const price = { offeringId: `<${item}>`, groupId: 'g', priceSpecId: 's', charValues: [], value: 1.5 }
      return createRequest(`/prices/${toUuid(item)}`, 'PUT', JSON.stringify(price))
    },
    contentPath: '/prices',
    readPath: '/prices?linearizable=true',
  },
  {
    name: 'sse',
    settings: ['--historyCount', '100000'],
    createWrite: (item) => createRequest(`/put?topic=t${item.at(-1)}`, 'POST', `<${item}>`, 'text/plain'),
    contentPath: '/export',
    readPath: '/export',
  },
]
