import { readFileSync } from 'node:fs'

const VIEWER_FOLDER = new URL('../../../flame/src/page/', import.meta.url)
const readViewer = (name: string) => readFileSync(new URL(name, VIEWER_FOLDER), 'utf8')

/**
 * Renders the viewer of flame graphs with a compressed file inside. The result is one page without other files, because
 * the dashboard isolates reports, so that they cannot fetch.
 */
export const renderFlamePage = (file: Buffer): string =>
  readViewer('viewer.html')
    .replace(/<link rel="stylesheet" href="(.+)" \/>/g, (_, name) => `<style>\n${readViewer(name)}</style>`)
    .replace(/<script src="(.+)"><\/script>/g, (_, name) => `<script>\n${readViewer(name)}</script>`)
    .replace('id="data">', (start) => start + file.toString('base64'))
