import { describe, expect, onTestFinished, test } from 'vitest'
import type { Overrides } from '../../src/supervisor/embed.ts'
import type { RunningService } from '../../src/supervisor/service-host.ts'
import { SERVERS } from '../../src/settings/settings.ts'
import { callExamples, type ExampleReply } from './api-examples.ts'

const METHODS_WITH_CONTENT = ['put', 'post', 'patch']
const describeReply = ({ operationId, status, text }: ExampleReply) => `${operationId}: ${status} ${text.slice(0, 300)}`

/**
 * Header fields that change the meaning of a request are never ignored: every operation that a service documents, served
 * by every server, refuses unknown content codings, and evaluates `If-Match` or refuses it.
 */
export function testRequestFields(start: (settings: Overrides) => Promise<RunningService>): void {
  describe.each(SERVERS)('header fields that change the meaning, served by %s', (server) => {
    async function expectRefusals(
      headers: Record<string, string>,
      methods: readonly string[],
      expected: (one: ExampleReply) => boolean,
    ) {
      const running = await start({ server })
      onTestFinished(async () => void (await running.stop()))
      const replies = await callExamples(running.url, async () => headers, methods)
      expect(replies.length).toBeGreaterThan(0)
      expect(replies.filter((one) => !expected(one)).map(describeReply)).toEqual([])
    }

    test.each(['gzip, x-unknown', 'x-unknown'])('415 for Content-Encoding: %s', async (coding) => {
      await expectRefusals({ 'content-encoding': coding }, METHODS_WITH_CONTENT, ({ status, text }) => {
        return status === 415 && JSON.parse(text).code === 'CONTENT_ENCODING_UNSUPPORTED'
      })
    })

    test('no change with an If-Match that does not hold', async () => {
      await expectRefusals({ 'if-match': '"none"' }, [...METHODS_WITH_CONTENT, 'delete'], ({ status }) => status >= 400)
    })
  })
}
