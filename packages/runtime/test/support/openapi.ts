/** A route of a document with what its examples make of it. */
export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly any[]
  readonly requestBody: any
  readonly responses: Record<string, any>
  readonly security: readonly object[]
}

// Made before it is read, and deleted last, parts before what they are of.
const ORDER = ['put', 'post', 'patch', 'get', 'delete']
const depthOf = ({ method, path }: Operation) => (method === 'delete' ? path.split('/').length : 0)

/** The routes of a document, references in their parts resolved; what makes something comes first. */
export function operationsOf(document: any): Operation[] {
  const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, one]) => ({ parameters: [], ...resolved(one, document), method, path })),
  )
  return operations.sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method) || depthOf(b) - depthOf(a))
}

function resolved(value: any, document: any): any {
  if (Array.isArray(value)) return value.map((one) => resolved(one, document))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value
  const name = typeof $ref === 'string' ? $ref.split('/').at(-1)! : undefined
  const all = name === undefined ? rest : { ...document.components.schemas[name], ...rest }
  return Object.fromEntries(Object.entries(all).map(([key, part]) => [key, resolved(part, document)]))
}

/** An example is one value, several are named. */
export const examplesOf = ({ example, examples, schema }: any): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples ?? {}).map((one: any) => one?.value ?? one),
  ...(schema?.examples ?? []),
]

/** What an example of a route was answered with. */
export interface Answered {
  readonly operationId: string
  readonly status: number
  /** Of a refusal. */
  readonly text: string
}

/**
 * Asks a running service for each example of each of its routes.
 * @param headersFor what a route needs besides, by its name
 * @param methods of the routes to call, in lower case
 */
export async function callExamples(
  url: string,
  headersFor: (operationId: string) => Promise<Record<string, string>> = async () => ({}),
  methods: readonly string[] = ORDER,
): Promise<Answered[]> {
  const answered: Answered[] = []
  const document = await (await fetch(`${url}/openapi.json`)).json()
  for (const operation of operationsOf(document).filter(({ method }) => methods.includes(method))) {
    const { operationId, method, path, parameters, requestBody } = operation
    const query = new URLSearchParams()
    let target = path
    for (const parameter of parameters) {
      const [value] = examplesOf(parameter)
      if (value === undefined && parameter.required) throw new Error(`${operationId}: no example of ${parameter.name}`)
      if (value === undefined) continue
      if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
      else if (parameter.in === 'query') for (const one of [value].flat()) query.append(parameter.name, String(one))
    }
    for (const { type, body } of bodiesOf(requestBody, operationId)) {
      const reply = await fetch(`${url}${target}?${query}`, {
        method: method.toUpperCase(),
        headers: { ...(type && { 'content-type': type }), ...(await headersFor(operationId)) },
        ...(body !== undefined && { body }),
      })
      answered.push({ operationId, status: reply.status, text: reply.ok ? '' : await reply.text() })
      // Some go on for ever.
      if (reply.ok) await reply.body?.cancel()
    }
  }
  return answered
}

function bodiesOf(requestBody: any, operationId: string): { type?: string; body?: string }[] {
  if (!requestBody) return [{}]
  const bodies = Object.entries<any>(requestBody.content).flatMap(([type, content]) =>
    examplesOf(content).map((one) => ({ type, body: typeof one === 'string' ? one : JSON.stringify(one) })),
  )
  if (bodies.length === 0) throw new Error(`${operationId}: no example of a body`)
  return bodies
}
