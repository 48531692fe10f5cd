import { expect } from 'vitest'

/** A request that a service must refuse, and the parts of its reply. */
export interface Refusal {
  readonly request: readonly [
    method: string,
    target: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ]
  readonly code: string
  /** 400 by default. */
  readonly status?: number
  /** Texts that the detail contains: the field, the allowed values, the received value. */
  readonly detail: readonly string[]
}

/** A value that no reply may repeat. */
const SECRET = 'hunter2-secret'

const toBody = (body: unknown) => (body === undefined || typeof body === 'string' ? body : JSON.stringify(body))

/**
 * Sends each request, and compares its reply.
 * @param headers of all requests, unless a request has its own
 */
export async function expectRefusals(
  url: string,
  refusals: readonly Refusal[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const wrong: unknown[] = []
  for (const { request, code, status = 400, detail } of refusals) {
    const [method, target, body, own] = request
    const type = body === undefined ? undefined : { 'content-type': 'application/json' }
    const reply = await fetch(url + target, {
      method,
      headers: { ...type, cookie: `session=${SECRET}`, 'x-api-key': SECRET, ...headers, ...own },
      body: toBody(body) as string,
    })
    const text = await reply.text()
    const problem = parseProblem(text)
    const missing = detail.filter((part) => !problem.detail?.includes(part))
    const isBounded = (problem.detail?.length ?? 0) < 2_000 && !/[\p{Cc}\p{Cf}]/u.test(problem.detail ?? '')
    if (reply.status !== status || problem.code !== code || missing.length > 0 || !isBounded || text.includes(SECRET))
      wrong.push({ request: `${method} ${target} ${toBody(body)?.slice(0, 200)}`, status: reply.status, missing, text })
  }
  expect(wrong).toEqual([])
}

function parseProblem(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly in: string }[]
  readonly requestBody?: unknown
}

/** Fails unless each documented operation with a query or a body has at least one refusal. */
export async function expectAllRefused(
  url: string,
  refusals: readonly Refusal[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { paths } = (await (await fetch(`${url}/openapi.json`, { headers })).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const missing: string[] = []
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      if (!requestBody && !parameters.some((parameter) => parameter.in === 'query')) continue
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/?]*')}(\\?|$)`)
      const isTested = ({ request: [used, target] }: Refusal) => used.toLowerCase() === method && pattern.test(target)
      if (!refusals.some(isTested)) missing.push(`${method} ${path}`)
    }
  expect(missing).toEqual([])
}
