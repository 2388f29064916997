import { sound } from "./preference";

let context: AudioContext | undefined;

/** One synthesized tone of a sound. */
interface Tone {
  /** In Hz. */
  pitch: number;
  /** Offset from the start of the sound, in seconds. */
  at: number;
  /** In seconds. */
  length: number;
}

const SOUNDS = {
  move: [{ pitch: 330, at: 0, length: 0.09 }],
  turn: [
    { pitch: 523, at: 0, length: 0.1 },
    { pitch: 659, at: 0.09, length: 0.14 },
  ],
  start: [
    { pitch: 392, at: 0, length: 0.12 },
    { pitch: 523, at: 0.12, length: 0.18 },
  ],
  end: [
    { pitch: 523, at: 0, length: 0.5 },
    { pitch: 659, at: 0.08, length: 0.5 },
    { pitch: 784, at: 0.16, length: 0.6 },
  ],
} satisfies Record<string, Tone[]>;

const VOLUME = 0.12;

/** Plays a sound if the player wants sounds. Browsers forbid it before the first click or key. */
export function play(name: keyof typeof SOUNDS): void {
  if (!sound.value || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  for (const tone of SOUNDS[name]) ring(context, tone);
}

function ring(audio: AudioContext, { pitch, at, length }: Tone): void {
  const start = audio.currentTime + at;
  const source = audio.createOscillator();
  const volume = audio.createGain();
  source.type = "triangle";
  source.frequency.value = pitch;
  volume.gain.setValueAtTime(VOLUME, start);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + length);
  source.connect(volume).connect(audio.destination);
  source.start(start);
  source.stop(start + length);
}
