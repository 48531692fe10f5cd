import fastJson from 'fast-json-stringify'
import { expect, it } from 'vitest'
import { createValidator } from '../../src/schema/validation.ts'
import { callExamples, listOperations } from './api-examples.ts'

/** A service that runs, empty, until `stop`. */
interface RunningApi {
  readonly url: string
  stop(): Promise<unknown>
}

/**
 * Tests the OpenAPI document of a service.
 * @param headersFor headers that a route needs in addition to its example, by operation id
 */
export function testApiDocument(
  start: () => Promise<RunningApi>,
  headersFor?: (operationId: string) => Promise<Record<string, string>>,
): void {
  it('every route of the document has a unique name and its security, and every schema has a name', async () => {
    const { url, stop } = await start()
    const document: any = await (await fetch(`${url}/openapi.json`)).json()
    await stop()
    const operations = listOperations(document)
    const names = operations.map(({ operationId }) => operationId)
    for (const name of names) expect(name).toMatch(/^[a-z]+[A-Za-z]*$/)
    expect(new Set(names).size).toBe(names.length)
    for (const { path, security } of operations)
      expect([path, security]).toEqual([path, ['/healthz', '/readyz'].includes(path) ? [] : [{ token: [] }, {}]])
    expect(document.components.securitySchemes.token).toEqual({ type: 'http', scheme: 'bearer' })
    expect(document.components.schemas).toMatchObject({ Problem: { type: 'object' }, Version: { type: 'object' } })
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]+$/)
  })

  it('every schema of the document compiles, for requests and for replies', async () => {
    const { url, stop } = await start()
    const document: any = await (await fetch(`${url}/openapi.json`)).json()
    await stop()
    for (const { operationId, parameters, requestBody, responses } of listOperations(document)) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.values<any>(one?.content ?? {}),
      )
      const schemas = [...parameters, ...contents].map(({ schema }) => schema).filter(Boolean)
      expect([operationId, schemas.length > 0]).toEqual([operationId, true])
      for (const schema of schemas) {
        expect(() => createValidator(schema, 'body')(undefined)).not.toThrow()
        expect(() => fastJson(schema)).not.toThrow()
      }
    }
  })

  it('every example of the document gets a 2xx reply', async () => {
    const { url, stop } = await start()
    const replies = await callExamples(url, headersFor)
    await stop()
    // Some services have no data that could be backed up, and none is a node of a cluster.
    const expected = replies.filter(({ text }) => !/NO_DATA|only a node of a cluster/.test(text))
    expect(expected.filter(({ status }) => status < 200 || status > 299)).toEqual([])
  })
}
