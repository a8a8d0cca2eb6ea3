extern "C" int dlc_x(){return 1;}
