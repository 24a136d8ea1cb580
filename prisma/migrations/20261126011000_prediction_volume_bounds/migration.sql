-- Who traded most in all its life: nobody trades more in a window.
CREATE INDEX "pm_told_figures_category_volume_idx" ON "pm_told_figures"("category", "volume" DESC);
