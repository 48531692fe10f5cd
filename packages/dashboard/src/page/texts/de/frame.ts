import type { frame as english } from '../en/frame.ts'
import type { Translation } from '../text-types.ts'

export const frame: Translation<typeof english> = {
  'frame.skip': 'Zum Inhalt',
  'frame.screens': 'Bereiche',
  'frame.campaigns': 'Kampagnen',
  'frame.compare': 'Vergleich',
  'frame.links': 'Links',
  'frame.prices': 'Preise',
  'frame.health': 'Status',
  'frame.live': 'Live',
  'frame.connecting': 'Verbindet',
  'frame.lost': 'Nicht live',
  'frame.signOut': 'Abmelden',
  'frame.language': 'Sprache',
  'frame.loading': 'Lädt…',
  'frame.unreadable':
    'Dieser Teil der Seite wurde nicht geladen. Der Server ist nicht erreichbar, oder er wurde aktualisiert.',
  'frame.retry': 'Erneut versuchen',
  'frame.standInLabel': 'Herkunft der Zahlen',
  'frame.standIn':
    '<b>Erfundene Zahlen.</b> Sie kommen von einem YouTube-Ersatz auf diesem Rechner, daher ist kein API-Schlüssel nötig.',
  'frame.numbersAsOf': 'Zahlen vom Stand {time}.',
  'frame.lastAnsweredAt': 'Letzte Antwort um {time}.',
  'frame.cancel': 'Abbrechen',
  'frame.showMore': 'Mehr anzeigen',

  'notFound.page': 'Nicht gefunden',
  'notFound.title': 'Unter dieser Adresse gibt es nichts',
  'notFound.note': 'Wurde die Adresse vollständig kopiert? Sonst weiter zur Liste der Kampagnen.',

  'signIn.title': 'Anmelden',
  'signIn.note': 'Ein Token der Dienste eingeben: das Token für Änderungen oder das zum Lesen.',
  'signIn.token': 'Token',

  'undo.videoLater': '{name} wird entfernt. Bis dahin zählt es mit.',
  'undo.videoFailed': '{name} wurde nicht entfernt. {fault}',
  'undo.dismiss': 'Schließen',
  'undo.undo': 'Rückgängig',
  'undo.removeNow': 'Jetzt entfernen',
}
