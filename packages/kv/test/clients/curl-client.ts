import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'

// Client of kv on curl: kv-clients.slow.test.ts describes its commands.

const [, , url] = process.argv

const write = (reply: unknown) => process.stdout.write(`${JSON.stringify(reply)}\n`)

/** Arguments of a query, which curl encodes. */
const toQuery = (command: Record<string, string>, names: readonly string[]) =>
  names.flatMap((name) => (name in command ? ['--url-query', `${name}=${command[name]}`] : []))

/** Starts curl, which prints the headers before the body. */
const startCurl = (...args: string[]) =>
  spawn('curl', ['--silent', '--show-error', '--no-buffer', '--include', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })

const readStatus = (head: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(head)![1])

interface CurlReply {
  readonly status: number
  readonly body: Buffer
  header(name: string): string | null
}

async function runCurl(body: Buffer, ...args: string[]): Promise<CurlReply> {
  const child = startCurl(...args)
  // curl reads it only if it sends it, and may end before; its exit code shows a failure.
  child.stdin.on('error', () => {}).end(body)
  const [output, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`curl ended with ${code}`)
  // curl asks with `Expect: 100-continue` whether it may send a large value.
  const start = output.indexOf('HTTP/1.1 100 ') === 0 ? output.indexOf('\r\n\r\n') + 4 : 0
  const end = output.indexOf('\r\n\r\n', start)
  const head = output.toString('latin1', start, end)
  return {
    status: readStatus(head),
    body: output.subarray(end + 4),
    header: (name) => new RegExp(`^${name}: (.*?)\r?$`, 'im').exec(head)?.[1] ?? null,
  }
}

async function callEntity(command: Record<string, string>) {
  const { do: method, value, ifMatch, ifNoneMatch } = command
  const headers = [ifMatch && `If-Match: ${ifMatch}`, ifNoneMatch && `If-None-Match: ${ifNoneMatch}`].filter(Boolean)
  const { status, body, header } = await runCurl(
    Buffer.from(value ?? '', 'base64'),
    '--request',
    method!,
    ...headers.flatMap((line) => ['--header', line!]),
    // With a file, curl sends no content type.
    ...(value === undefined ? [] : ['--upload-file', '-']),
    ...toQuery(command, ['id']),
    `${url}/v0/entity`,
  )
  write({ status, etag: header('etag'), value: body.toString('base64') })
}

async function readPage(command: Record<string, string>) {
  const { status, body, header } = await runCurl(
    Buffer.alloc(0),
    ...toQuery(command, ['prefix', 'limit', 'cursor']),
    `${url}/v0/entities`,
  )
  const lines = body.toString().split('\n').slice(0, -1)
  const next = header('next')
  write({ status, lines: lines.map((line) => JSON.parse(line)), next: next === null ? null : decodeURIComponent(next) })
}

async function watch(command: Record<string, string>) {
  const child = startCurl(...toQuery(command, ['prefix', 'after', 'progress']), `${url}/v0/watch`)
  process.once('exit', () => child.kill())
  let isHead = true
  let block: Record<string, string> = {}
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('HTTP/1.1 ')) write({ status: readStatus(line) })
    if (line.startsWith(':')) continue
    if (line !== '') block[line.slice(0, line.indexOf(': '))] = line.slice(line.indexOf(': ') + 2)
    else {
      if (!isHead && Object.keys(block).length > 0) write(block)
      isHead = false
      block = {}
    }
  }
  write({ end: 'the stream has ended' })
}

process.once('SIGTERM', () => process.exit())
for await (const line of createInterface(process.stdin)) {
  const command = JSON.parse(line) as Record<string, string>
  await (command.do === 'watch' ? watch(command) : command.do === 'page' ? readPage(command) : callEntity(command))
}
