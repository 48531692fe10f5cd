import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from './html.ts'
import { text } from './texts/texts.ts'

type Component = (props: never) => VNode | null

/** A component whose module is loaded when it is needed. */
export interface OnDemand {
  (props: object): VNode
  /** Loads the module before the component appears, so that it then appears without a placeholder. */
  load(): void
}

/** The load of a module. A load that failed can be repeated. */
class ModuleLoad {
  readonly #load: () => Promise<Component>
  #current: Promise<void> | undefined
  component: Component | undefined

  constructor(load: () => Promise<Component>) {
    this.#load = load
  }

  start(): Promise<void> {
    this.#current ??= this.#load().then(
      (component) => void (this.component = component),
      (error: unknown) => {
        this.#current = undefined
        throw error
      },
    )
    return this.#current
  }
}

/**
 * Makes a component of a module that the page loads when the component appears. Until then there is a placeholder. If the
 * module cannot be read, the reader learns it and can try again.
 */
export function onDemand(load: () => Promise<Component>): OnDemand {
  const module = new ModuleLoad(load)
  function Part(props: object): VNode {
    const [isFailed, setFailed] = useState(false)
    const [, render] = useState({})
    async function start(): Promise<void> {
      const isLoaded = await module.start().then(
        () => true,
        () => false,
      )
      setFailed(!isLoaded)
      render({})
    }
    // The module may be loaded between the first rendering and this effect: `start` renders again in any case.
    useEffect(() => void start(), [])
    async function retry(): Promise<void> {
      await start()
      if (!module.component) await reloadPage()
    }
    if (module.component) return html`<${module.component} ...${props} />`
    if (isFailed) return html`<${Unreadable} retry=${retry} />`
    return html`<p class="quiet" role="status">${text('frame.loading')}</p>`
  }
  return Object.assign(Part, { load: () => void module.start().catch(() => {}) })
}

/**
 * Loads the page again if the server answers: after an update it has other files, and a browser may keep the failure of a
 * module. Without an answer the page remains, because the browser would replace it by a message of its own.
 */
async function reloadPage(): Promise<void> {
  const reply = await fetch(location.href, { method: 'HEAD' }).catch(() => undefined)
  if (reply) location.reload()
}

function Unreadable({ retry }: { retry(): Promise<void> }) {
  const [isBusy, setBusy] = useState(false)
  async function run(): Promise<void> {
    setBusy(true)
    await retry()
    setBusy(false)
  }
  return html`<div class="unreadable" role="alert">
    <p class="fault">${text('frame.unreadable')}</p>
    <button type="button" disabled=${isBusy} onClick=${run}>${text('frame.retry')}</button>
  </div>`
}
