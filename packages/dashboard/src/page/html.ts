import htm from 'htm'
import { h, type VNode } from 'preact'

/** The types of htm describe its CommonJS module, which browsers do not load. */
interface Htm {
  bind(make: typeof h): (strings: TemplateStringsArray, ...values: unknown[]) => VNode
}

/** Creates markup from a tagged template. Inserted values are text, never markup. */
export const html = (htm as unknown as Htm).bind(h)

/** A listener of an input or a select that receives its text. */
export const onText = (set: (text: string) => void) => (event: Event) => set((event.target as HTMLInputElement).value)
