/** A route of a document and the parts that its examples need. */
export interface ApiOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly any[]
  readonly requestBody: any
  readonly responses: Record<string, any>
  readonly security: readonly object[]
}

// Creates before it reads, and deletes last. Deletes parts before the objects that contain them.
const METHOD_ORDER = ['put', 'post', 'patch', 'get', 'delete']
const getDepth = ({ method, path }: ApiOperation) => (method === 'delete' ? path.split('/').length : 0)

/** The routes of a document with resolved references. Routes that create something come first. */
export function listOperations(document: any): ApiOperation[] {
  const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, one]) => ({
      parameters: [],
      ...resolveReferences(one, document),
      method,
      path,
    })),
  )
  return operations.sort(
    (a, b) => METHOD_ORDER.indexOf(a.method) - METHOD_ORDER.indexOf(b.method) || getDepth(b) - getDepth(a),
  )
}

function resolveReferences(value: any, document: any): any {
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, document))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value
  const name = typeof $ref === 'string' ? $ref.split('/').at(-1)! : undefined
  const all = name === undefined ? rest : { ...document.components.schemas[name], ...rest }
  return Object.fromEntries(Object.entries(all).map(([key, part]) => [key, resolveReferences(part, document)]))
}

/** The unnamed and the named examples of a parameter or body. */
export const listExamples = ({ example, examples, schema }: any): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples ?? {}).map((one: any) => one?.value ?? one),
  ...(schema?.examples ?? []),
]

/** The reply to an example of a route. */
export interface ExampleReply {
  readonly operationId: string
  readonly status: number
  /** Body of a reply that is not 2xx. */
  readonly text: string
}

/**
 * Sends each example of each route to a running service.
 * @param headersFor additional headers of a route, by operation id
 * @param methods methods of the routes to call, in lower case
 */
export async function callExamples(
  url: string,
  headersFor: (operationId: string) => Promise<Record<string, string>> = async () => ({}),
  methods: readonly string[] = METHOD_ORDER,
): Promise<ExampleReply[]> {
  const replies: ExampleReply[] = []
  const document = await (await fetch(`${url}/openapi.json`)).json()
  for (const operation of listOperations(document).filter(({ method }) => methods.includes(method))) {
    const { operationId, method, path, parameters, requestBody } = operation
    const query = new URLSearchParams()
    let target = path
    for (const parameter of parameters) {
      const [value] = listExamples(parameter)
      if (value === undefined && parameter.required) throw new Error(`${operationId}: no example of ${parameter.name}`)
      if (value === undefined) continue
      if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
      else if (parameter.in === 'query') for (const one of [value].flat()) query.append(parameter.name, String(one))
    }
    for (const { type, body } of listBodies(requestBody, operationId)) {
      const reply = await fetch(`${url}${target}?${query}`, {
        method: method.toUpperCase(),
        headers: { ...(type && { 'content-type': type }), ...(await headersFor(operationId)) },
        ...(body !== undefined && { body }),
      })
      replies.push({ operationId, status: reply.status, text: reply.ok ? '' : await reply.text() })
      // Some replies never end.
      if (reply.ok) await reply.body?.cancel()
    }
  }
  return replies
}

function listBodies(requestBody: any, operationId: string): { type?: string; body?: string }[] {
  if (!requestBody) return [{}]
  const bodies = Object.entries<any>(requestBody.content).flatMap(([type, content]) =>
    listExamples(content).map((one) => ({ type, body: typeof one === 'string' ? one : JSON.stringify(one) })),
  )
  if (bodies.length === 0) throw new Error(`${operationId}: no example of a body`)
  return bodies
}
