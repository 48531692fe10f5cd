import { findReports, REPORT_HEADERS, type Reports } from '@influencer-stats/dashboard/reports'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const STYLE = readFileSync(new URL('./page/viewer.css', import.meta.url), 'utf8')
const GRAPH_PATTERN = /^flame\/(?<subject>(?<service>[^/]+)\/.+)\/(?<graph>.+)\.html$/

/** Lists the graphs by their paths. */
const listGraphs = ({ paths }: Reports) =>
  paths.flatMap((path) => {
    const { subject, service, graph } = GRAPH_PATTERN.exec(path)?.groups ?? {}
    return subject ? [{ path, subject, service: service!, graph: graph! }] : []
  })

function renderIndex(reports: Reports): string {
  const services = Array.from(
    Map.groupBy(listGraphs(reports), ({ service }) => service),
    ([service, graphs]) => {
      const rows = Array.from(
        Map.groupBy(graphs, ({ subject }) => subject),
        ([subject, some]) => {
          const links = some.map(({ path, graph }) => `<a href="/${path}">${graph.replaceAll('-', ' ')}</a>`)
          return `<tr id="${subject}"><td>${subject}</td><td>${links.join('')}</td></tr>`
        },
      )
      return `<h2>${service}</h2>\n<table>\n${rows.join('\n')}\n</table>`
    },
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Flame graphs</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><h1>Flame graphs</h1>
${services.join('\n')}
</body></html>
`
}

/** Returns the address of a graph, or of its subject in the index. @throws Error naming the graphs if there is none */
export function findAddress(name: string, reports = findReports()): string {
  const path = name.replace(/^(?:\.?\/)*(?:flame\/)?/, '').replace(/\/$|(?:\.json|\.html)(?:\.gz)?$/, '')
  if (path === '') return '/'
  const graphs = listGraphs(reports)
  const found = graphs.find(({ subject, graph }) => `${subject}/${graph}/`.startsWith(`${path}/`))
  if (!found) {
    const subjects = new Set(graphs.map(({ subject }) => subject))
    throw new Error(`there is no flame graph ${name}; there are ${[...subjects].join(', ')}`)
  }
  return found.path === `flame/${path}.html` ? `/${found.path}` : `/#${found.subject}`
}

/** Serves the flame graphs and their index on loopback. @returns its origin */
export async function serveViewer(reports = findReports()) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = url.slice(1)
    const report = path === '' ? { body: renderIndex(reports) } : await reports.read(path)
    if (!report) return response.writeHead(404, REPORT_HEADERS).end(`There is no ${path}.\n`)
    const coding = 'coding' in report && report.coding ? { 'content-encoding': report.coding } : {}
    return response
      .writeHead(200, { ...REPORT_HEADERS, 'content-type': 'text/html; charset=utf-8', ...coding })
      .end(report.body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => void server.close().closeAllConnections()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' }

/** Opens an address in the browser, if the system has one. */
export function openBrowser(address: string): void {
  const opener = spawn(OPENERS[process.platform] ?? 'xdg-open', [address], { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}
