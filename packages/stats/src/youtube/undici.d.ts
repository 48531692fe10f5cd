// A part of undici that is loaded alone: its types describe it, but only under the name of the whole.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
