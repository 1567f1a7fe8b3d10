import { backOff } from '../clients/steady-fetch.ts';
import type { NoteRow } from '../provider/notes.ts';
import { between, hashOf, seeded, type Draw } from '../seeded.ts';

/**
 * An answer that a person sent until a response arrived, with times of the test clock in
 * milliseconds since the epoch.
 */
export interface AnswerReport {
  readonly purchase: string;
  readonly person: string;
  readonly wanted: 'approve' | 'deny' | 'pay';
  /** Response of the page: the recorded answer, or no record. */
  readonly told: 'approved' | 'denied' | 'paid' | 'nothing recorded' | 'refused' | 'no response';
  readonly status: number;
  readonly from: number;
  readonly to: number;
}

const mostTries = 40;
const pollMs = 150;

/**
 * People who get links, and a bank that gets webhooks. They answer early, late, twice, or never.
 */
export class People {
  readonly reports: AnswerReport[] = [];
  readonly #seed: number;
  readonly #proxy: URL;
  readonly #notesAfter: (id: number) => Promise<readonly NoteRow[]>;
  readonly #answering = new Set<Promise<unknown>>();
  #last = 0;

  constructor(seed: number, proxy: URL, notesAfter: (id: number) => Promise<readonly NoteRow[]>) {
    this.#seed = seed;
    this.#proxy = proxy;
    this.#notesAfter = notesAfter;
  }

  /** Answers delivered links until the signal aborts. */
  async answer(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const notes = await this.#notesAfter(this.#last).catch(() => []);
      for (const note of notes) {
        this.#last = Math.max(this.#last, note.id);
        const answering = this.#react(note);
        this.#answering.add(answering);
        void answering.finally(() => this.#answering.delete(answering));
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    await Promise.all(this.#answering);
  }

  async #react(note: NoteRow): Promise<void> {
    const draw = seeded(hashOf(`${this.#seed} ${note.key}`));
    const luck = draw();
    if (note.kind === 'decision') return;
    if (note.kind === 'webhook') {
      await wait(between(draw, 0, luck < 0.2 ? 8_000 : 2_500));
      await this.#pay(note, luck, draw);
      return;
    }
    // Some answer before the turn that sent the link has ended, and some too late.
    await wait(between(draw, 0, luck < 0.1 ? 9_000 : draw() < 0.4 ? 80 : 2_500));
    const post = (wanted: 'approve' | 'deny'): Promise<void> => this.#post(note, wanted, draw);
    if (note.kind === 'reminder') {
      if (luck < 0.35) await post('approve');
    } else if (luck < 0.4) await post('approve');
    else if (luck < 0.5) await post('deny');
    else if (luck < 0.6) await Promise.all([post('approve'), post('approve')]);
    else if (luck < 0.68) await Promise.all([post('approve'), post('deny')]);
  }

  async #post(note: NoteRow, wanted: 'approve' | 'deny', draw: Draw): Promise<void> {
    const { to = '' } = note;
    const headers = {
      authorization: `Bearer ${to}`,
      origin: 'null',
      'sec-fetch-site': 'same-origin',
    };
    const body = new URLSearchParams({ decision: wanted });
    await this.#send(note, wanted, { headers, body }, draw, (status, text) => {
      const [, title] = /<title>([^<]*)<\/title>/.exec(text) ?? [];
      if (title === 'You approved') return 'approved';
      if (title === 'You denied') return 'denied';
      return status === 409 || status === 410 ? 'nothing recorded' : 'refused';
    });
  }

  async #pay(note: NoteRow, luck: number, draw: Draw): Promise<void> {
    const post = async (event: object, signature = 'bank'): Promise<void> => {
      const body = JSON.stringify(event);
      const headers = { signature, 'content-type': 'application/json' };
      const isGood = signature === 'bank' && 'number' in event;
      await this.#send(note, 'pay', { headers, body }, draw, (status) => {
        if (status === 410) return 'nothing recorded';
        return isGood && (status === 200 || status === 202) ? 'paid' : 'refused';
      });
    };
    if (luck > 0.85) return;
    if (luck < 0.3) await post({ status: 'paid', number: 1 }, 'nobody');
    if (luck < 0.5) await post({ status: 'failed' });
    const copies = luck > 0.7 ? 3 : 1;
    await Promise.all(Array.from({ length: copies }, () => post({ status: 'paid', number: 1 })));
    // Another event for the same payment.
    if (luck > 0.78) await post({ status: 'paid', number: 2 });
  }

  /** Sends an answer until a response arrives. */
  async #send(
    { purchase, to: person = '', url = '' }: NoteRow,
    wanted: AnswerReport['wanted'],
    request: {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | URLSearchParams;
    },
    draw: Draw,
    toldBy: (status: number, text: string) => AnswerReport['told'],
  ): Promise<void> {
    const from = Date.now();
    let told: AnswerReport['told'] = 'no response';
    let status = 0;
    for (let tries = 1; tries <= mostTries && told === 'no response'; tries += 1) {
      try {
        const response = await fetch(new URL(new URL(url).pathname, this.#proxy), {
          method: 'POST',
          ...request,
        });
        const text = await response.text();
        ({ status } = response);
        if (status < 500) told = toldBy(status, text);
      } catch {
        // The connection was cut, or no process serves: tries again.
      }
      if (told === 'no response') await backOff(draw, tries);
    }
    this.reports.push({ purchase, person, wanted, told, status, from, to: Date.now() });
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
