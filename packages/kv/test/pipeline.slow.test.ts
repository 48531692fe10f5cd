import type { Overrides } from '@influencer-stats/runtime/embed'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { start, useNats } from './support/cluster-nodes.ts'
import { sendPipelined, type PipelineReply } from './support/pipelined.ts'
import { pipelineArbitrary, computeReplies, toRequestText, type PipelineRequest } from './support/pipelines.ts'

const TIMEOUT_MS = 120_000
/** Maximum number of concurrent pipelines, one per connection. */
const CONNECTION_COUNT = 4

let prefixes = 0

/** Formats the part of a reply that the model predicts. */
function showReply({ type }: PipelineRequest, { status, headers, body }: PipelineReply): string {
  if (status !== 200) return String(status)
  return `200 ${type === 'head' ? headers['content-length'] : body}`
}

async function checkPipelines(url: string, runCount: number): Promise<void> {
  const property = fc.asyncProperty(
    fc.array(pipelineArbitrary, { minLength: 1, maxLength: CONNECTION_COUNT }),
    async (pipelines) => {
      const checks = pipelines.map(async ({ requests, cuts }) => {
        const prefix = `p${prefixes++}-`
        const replies = await sendPipelined(
          url,
          requests.map((one) => toRequestText(one, prefix)),
          cuts,
        )
        expect(replies.map((reply, i) => showReply(requests[i]!, reply))).toEqual(computeReplies(requests, prefix))
      })
      await Promise.all(checks)
    },
  )
  await fc.assert(property, { numRuns: scaleRuns(runCount) })
}

const VARIANTS: [string, Overrides][] = [
  ['on main', {}],
  ['with 2 threads', { threads: 2 }],
  ['with commit single', { commit: 'single' }],
  ['in memory', { store: 'memory' }],
  ['with a queue of 3 writes', { queueWrites: 3, queueTimeout: 60_000 }],
]

describe.each(SERVERS)('pipelined requests, served by %s', (server) => {
  test('see and make changes in order', async () => {
    const { url } = await start({ server })
    const target = '/v0/entity?id=one'
    const put = `PUT ${target} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n`
    const get = `GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const remove = `DELETE ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const replies = await sendPipelined(url, [`${put}1`, get, `${put}2`, get, remove, get])
    expect(replies.map(({ status, body }) => `${status} ${status < 300 ? body : ''}`)).toEqual([
      '201 ',
      '200 1',
      '201 ',
      '200 2',
      '202 ',
      '404 ',
    ])
    expect(replies[1]!.headers.etag).toBe(replies[0]!.headers.etag)
    expect(replies[3]!.headers.etag).toBe(replies[2]!.headers.etag)
  })

  test('are read completely and in order if a large body follows requests that wait', async () => {
    const { url } = await start({ server, commit: 'single' })
    const requests: PipelineRequest[] = [
      { type: 'put', key: 'a', value: '', condition: '', form: 'length' },
      { type: 'delete', key: 'a', condition: '' },
      { type: 'batch', changes: [{ key: 'a' }] },
      { type: 'put', key: 'a', value: '', condition: '', form: 'large' },
      { type: 'put', key: 'a', value: '', condition: '', form: 'length' },
    ]
    // An error depended on the number of bytes of the body that the system delivers at once.
    for (let i = 0; i < 200; i++) {
      const texts = requests.map((one) => toRequestText(one, `large${i}-`))
      const replies = await sendPipelined(url, texts, [0.0022, 0.47])
      expect(replies.map(({ status }) => status)).toEqual([201, 202, 200, 201, 201])
    }
  })

  test.each(VARIANTS)(
    'get the replies of a server that executes them one after another, %s',
    async (_, settings) => {
      const { url } = await start({ server, ...settings })
      await checkPipelines(url, 60)
    },
    TIMEOUT_MS,
  )

  const node = useNats()
  test(
    'get the same replies in a cluster',
    async () => {
      const { url } = await start({ server, ...node(`pipeline-${server}`) })
      await checkPipelines(url, 10)
    },
    TIMEOUT_MS,
  )
})
