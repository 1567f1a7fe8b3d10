import { useData, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { nextTick, onMounted, watch } from 'vue';
import { useRoute } from 'vitepress';
import { drawDiagrams } from './draw-diagrams.ts';
import { repairSearch } from './repair-search.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    const { isDark } = useData();
    const draw = (): void => void nextTick(() => drawDiagrams(isDark.value));
    onMounted(draw);
    onMounted(repairSearch);
    watch(() => [route.path, isDark.value], draw);
  },
} satisfies Theme;
